import { words } from "../../words"
import { classes } from "../classes"
import css from "./StatusGlyph.module.css"

export type Status = "running" | "waiting" | "idle" | "error" | "queued"

const glyphs: Record<Status, string> = { running: "●", waiting: "◐", idle: "○", error: "✕", queued: "⏸" }

export interface StatusGlyphProps {
  status: Status
  /** The word beside the glyph; without it, it is only read aloud. */
  isWordShown?: boolean | undefined
  /** Another word, as in "Reconnecting". */
  word?: string | undefined
}

/** A state as a form, a colour and a word. */
export function StatusGlyph({ status, isWordShown = false, word = words.ui.status[status] }: StatusGlyphProps) {
  return (
    <span className={css["status"]} title={isWordShown ? undefined : word}>
      <span aria-hidden className={classes(css["glyph"], css[status])}>
        {/* The text variant: without it some systems draw a coloured picture. */}
        {glyphs[status] + "\uFE0E"}
      </span>
      <span className={isWordShown ? css["word"] : "unseen"}>{word}</span>
    </span>
  )
}
