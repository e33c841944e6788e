import type { ReactNode } from "react"
import css from "./card.module.css"

/** What may be long scrolls in itself, also by keyboard. */
export function ScrollBox({ label, children }: { label: string; children: ReactNode }) {
  return (
    <div role="group" aria-label={label} tabIndex={0} className={css["box"]}>
      {children}
    </div>
  )
}
