import { words } from "../../words"
import css from "./DiffStat.module.css"

/** How much was added and removed: +12 −3. */
export function DiffStat({ additions, deletions }: { additions: number; deletions: number }) {
  return (
    <span className={css["stat"]}>
      <span className={css["added"]}>
        <span aria-hidden>+{additions}</span>
        <span className="unseen">{words.ui.diff.added(additions)}, </span>
      </span>
      <span className={css["removed"]}>
        <span aria-hidden>−{deletions}</span>
        <span className="unseen">{words.ui.diff.removed(deletions)}</span>
      </span>
    </span>
  )
}
