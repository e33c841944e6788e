import { WrapText } from "lucide-react"
import { memo, useState } from "react"
import { words } from "../../words"
import { Button } from "../buttons/Button"
import { CopyButton } from "../buttons/CopyButton"
import { IconButton } from "../buttons/IconButton"
import { classes } from "../classes"
import css from "./CodeBlock.module.css"
import { CodeLine } from "./CodeLine"
import { languageOfFile } from "./languages"
import type { Line } from "./tones"
import { useColouredStream } from "./use_coloured"

export interface CodeBlockProps {
  code: string
  language?: string | undefined
  /** Shown instead of the language, and tells it. */
  fileName?: string | undefined
  /** More of it may come. */
  isStreaming?: boolean | undefined
  /** The number of the first line; numbers are shown only when it is given. */
  firstLine?: number | undefined
  /** Scrolls in itself beyond 60 % of the window. */
  isBounded?: boolean | undefined
}

/** Longer ones are folded to so many lines. */
const fold = 400

export const CodeBlock = memo(function CodeBlock({ code, language, fileName, isStreaming = false, firstLine, isBounded = false }: CodeBlockProps) {
  const [isWrapped, setIsWrapped] = useState(false)
  const [isUnfolded, setIsUnfolded] = useState(false)
  const known = language ?? (fileName === undefined ? undefined : languageOfFile(fileName))
  const { settled, coming } = useColouredStream(code, known, isStreaming)
  const count = settled.length + coming.length
  const most = isUnfolded ? Number.POSITIVE_INFINITY : fold
  const name = fileName ?? language ?? words.ui.code.text
  return (
    <figure className={css["block"]}>
      <figcaption className={css["head"]}>
        <span className={css["name"]}>{name}</span>
        <IconButton
          name={words.ui.code.wrap}
          icon={WrapText}
          size="small"
          isPressed={isWrapped}
          onClick={() => setIsWrapped(!isWrapped)}
        />
        <CopyButton text={code} size="small" />
      </figcaption>
      <pre
        className={classes(css["code"], isWrapped && css["wrapped"], isBounded && css["bounded"])}
        tabIndex={0}
        role="group"
        aria-label={words.ui.code.block(name)}
      >
        <code>
          <Lines lines={settled} most={most} firstLine={firstLine} isFirst />
          <Lines lines={coming} most={most - settled.length} firstLine={firstLine && firstLine + settled.length} isFirst={settled.length === 0} />
        </code>
      </pre>
      {count > fold && (
        <div className={css["fold"]}>
          <Button kind="quiet" size="small" onClick={() => setIsUnfolded(!isUnfolded)}>
            {isUnfolded ? words.ui.code.showLess : words.ui.code.showAll(count)}
          </Button>
        </div>
      )}
    </figure>
  )
})

interface LinesProps {
  lines: readonly Line[]
  most: number
  firstLine: number | undefined
  /** No end of line before it. */
  isFirst: boolean
}

const Lines = memo(function Lines({ lines, most, firstLine, isFirst }: LinesProps) {
  return lines.slice(0, Math.max(0, most)).map((line, place) => (
    <span key={place}>
      {(place > 0 || !isFirst) && "\n"}
      {firstLine !== undefined && <span className={css["number"]} data-number={firstLine + place} />}
      <CodeLine line={line} />
    </span>
  ))
})
