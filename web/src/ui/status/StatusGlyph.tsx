import type { ReactNode } from "react"
import { words } from "../../words"
import { classes } from "../classes"
import css from "./StatusGlyph.module.css"

export type Status = "running" | "waiting" | "idle" | "error" | "queued"

/** ● ◐ ○ ✕ ⏸, drawn: not every font has all of them, and some colour them. */
const forms: Record<Status, ReactNode> = {
  running: <circle cx="6" cy="6" r="4.5" fill="currentColor" stroke="none" />,
  waiting: (
    <>
      <circle cx="6" cy="6" r="4.25" />
      <path d="M6 1.75a4.25 4.25 0 0 0 0 8.5z" fill="currentColor" />
    </>
  ),
  idle: <circle cx="6" cy="6" r="4" />,
  error: <path d="M2.5 2.5l7 7m0-7l-7 7" />,
  queued: <path d="M4 2v8m4-8v8" />,
}

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
      <svg aria-hidden width="12" height="12" viewBox="0 0 12 12" className={classes(css["glyph"], css[status])}>
        {forms[status]}
      </svg>
      <span className={isWordShown ? css["word"] : "unseen"}>{word}</span>
    </span>
  )
}
