import { type KeyboardEvent, useEffect, useRef, useState } from "react"
import { words } from "../../words"
import { Button } from "../buttons/Button"
import { TextArea } from "../inputs/TextArea"
import type { Commented } from "./commented"
import css from "./CommentBox.module.css"

export interface CommentBoxProps {
  about: Commented
  onAdd: (text: string) => void
  onCancel: () => void
}

/** Below the lines that it is about. */
export function CommentBox({ about, onAdd, onCancel }: CommentBoxProps) {
  const [text, setText] = useState("")
  const area = useRef<HTMLTextAreaElement>(null)
  // Once: whoever goes on among the lines while it is open is not brought back.
  useEffect(() => area.current?.focus({ preventScroll: true }), [])
  const label = words.ui.diff.commentOn(linesText(about))

  function press(event: KeyboardEvent): void {
    if (event.key === "Escape") {
      event.stopPropagation()
      onCancel()
    } else if (event.key === "Enter" && !event.shiftKey && !event.nativeEvent.isComposing) {
      event.preventDefault()
      if (text.trim() !== "") onAdd(text.trim())
    }
  }

  return (
    <div className={css["box"]} role="group" aria-label={label}>
      <p className={css["label"]}>{label}</p>
      <TextArea
        ref={area}
        aria-label={label}
        value={text}
        onChange={setText}
        minRows={2}
        maxRows={8}
        placeholder={words.ui.diff.commentPlaceholder}
        onKeyDown={press}
      />
      <div className={css["foot"]}>
        <span className={css["hint"]}>{words.ui.diff.commentHint}</span>
        <Button size="small" onClick={onCancel}>
          {words.common.cancel}
        </Button>
        <Button size="small" kind="primary" disabled={text.trim() === ""} onClick={() => onAdd(text.trim())}>
          {words.ui.diff.addComment}
        </Button>
      </div>
    </div>
  )
}

function linesText({ side, startLine, endLine }: Commented): string {
  const { line, oldLine, lines, oldLines } = words.ui.diff
  if (startLine === endLine) return side === "old" ? oldLine(startLine) : line(startLine)
  return side === "old" ? oldLines(startLine, endLine) : lines(startLine, endLine)
}
