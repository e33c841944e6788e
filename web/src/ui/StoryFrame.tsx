import type { ReactNode } from "react"
import { classes } from "./classes"
import css from "./StoryFrame.module.css"

/** Frames of stories. */
export function Rows({ children, width }: { children: ReactNode; width?: "narrow" | "wide" | undefined }) {
  return <main className={classes(css["rows"], width && css["stretched"], width && css[width])}>{children}</main>
}

export function Row({ children }: { children: ReactNode }) {
  return <div className={css["row"]}>{children}</div>
}
