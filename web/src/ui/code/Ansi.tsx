import { memo } from "react"
import { classes } from "../classes"
import css from "./Ansi.module.css"
import { readAnsi, type Style } from "./ansi_pieces"

/** Text from a terminal, in its colours. Stands inside of a `pre`. */
export const Ansi = memo(function Ansi({ text, start }: { text: string; start?: Style | undefined }) {
  return readAnsi(text, start).pieces.map((piece, place) => {
    const className = classes(
      piece.colour && css[piece.colour],
      piece.isBold && css["bold"],
      piece.isDim && css["dim"],
      piece.isUnderlined && css["underlined"],
      piece.isMarked && css["marked"],
    )
    return className === "" ? (
      piece.text
    ) : (
      <span key={place} className={className}>
        {piece.text}
      </span>
    )
  })
})
