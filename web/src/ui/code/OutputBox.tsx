import { useLayoutEffect, useRef } from "react"
import { words } from "../../words"
import { classes } from "../classes"
import { Ansi } from "./Ansi"
import css from "./OutputBox.module.css"
import { outputParts, type Part, shownParts } from "./output_parts"

export interface OutputBoxProps {
  text: string
  /** What it is the output of. */
  label?: string | undefined
  /** More may come: the box stays at its end unless its reader has scrolled away. */
  isRunning?: boolean | undefined
  /** Characters that are shown, from the end. */
  limit?: number | undefined
  /** tall: most of the window, for panels. */
  height?: "normal" | "tall" | undefined
}

export function OutputBox({ text, label = words.ui.code.output, isRunning = false, limit = 100_000, height = "normal" }: OutputBoxProps) {
  const box = useRef<HTMLPreElement>(null)
  const isAtEnd = useRef(isRunning)
  const before = useRef<Part[]>([])
  // A cache, not state: the same text gives the same parts.
  const { shown, cut } = shownParts((before.current = outputParts(text, before.current)), limit)
  useLayoutEffect(() => {
    if (box.current && isAtEnd.current) box.current.scrollTop = box.current.scrollHeight
  }, [text])
  return (
    <div className={css["output"]}>
      {cut > 0 && <p className={css["cut"]}>{words.ui.code.cut(cut)}</p>}
      <pre
        ref={box}
        role="group"
        aria-label={label}
        aria-busy={isRunning || undefined}
        tabIndex={0}
        className={classes(css["box"], css[height])}
        onScroll={({ currentTarget: { scrollTop, clientHeight, scrollHeight } }) => {
          isAtEnd.current = scrollTop + clientHeight >= scrollHeight - 8
        }}
      >
        {text === "" && !isRunning && <span className={css["none"]}>{words.ui.code.noOutput}</span>}
        {shown.map((part) => (
          <Ansi key={part.place} text={part.text} start={part.start} />
        ))}
      </pre>
    </div>
  )
}
