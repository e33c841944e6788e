import { memo } from "react"
import css from "./CodeLine.module.css"
import type { Line } from "./tones"

/** The pieces of a line, in their tones. */
export const CodeLine = memo(function CodeLine({ line }: { line: Line }) {
  return line.map((piece, place) =>
    piece.tone === null ? (
      piece.text
    ) : (
      <span key={place} className={css[piece.tone]}>
        {piece.text}
      </span>
    ),
  )
})
