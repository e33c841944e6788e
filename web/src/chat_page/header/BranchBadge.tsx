import { GitBranch } from "lucide-react"
import type { Chat } from "../../api/schema"
import type { PanelOpening } from "../../panel/opening"
import { classes } from "../../ui/classes"
import { DiffStat } from "../../ui/diff/DiffStat"
import { Icon } from "../../ui/Icon"
import { words } from "../../words"
import css from "./ChatHeader.module.css"

/** The branch and what it has changed; shows the changes. */
export function BranchBadge({ chat, panel }: { chat: Chat; panel: PanelOpening }) {
  const diff = chat.diff_status
  if (!diff || (!diff.branch && diff.changed_files === 0)) return null
  const name = diff.branch ? words.panel.diff.badge(diff.branch) : words.panel.diff.badgeNoBranch
  return (
    <button type="button" className={classes(css["pill"], css["branch"])} title={name} onClick={() => panel.show("diff")}>
      <Icon of={GitBranch} />
      <span className="unseen">{name} </span>
      {diff.branch && (
        <span aria-hidden className={css["pillName"]}>
          {diff.branch}
        </span>
      )}
      {diff.changed_files > 0 && <DiffStat additions={diff.additions} deletions={diff.deletions} />}
    </button>
  )
}
