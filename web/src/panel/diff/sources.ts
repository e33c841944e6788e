/** What can be looked at: what is not committed, per repository, and all that the branch has changed. */
import type { LiveRepository } from "../../api/events"
import type { ChatDiffStatus } from "../../api/schema"
import { words } from "../../words"

export interface Source {
  /** A root, or `branch`. */
  value: string
  label: string
  hint: string
}

export const wholeBranch = "branch"

export function sourcesOf(repositories: readonly LiveRepository[], status: ChatDiffStatus | null | undefined): Source[] {
  const text = words.panel.diff
  const live = repositories.map((one) => ({
    value: one.root,
    label: `${one.root.split("/").pop() || one.root} · ${one.branch || text.detached}`,
    hint: `${text.uncommitted} · ${one.root}`,
  }))
  const number = status?.pr_number
  const base = status?.base_branch ?? repositories[0]?.base_branch
  const branch = {
    value: wholeBranch,
    label: number ? text.pullRequest(number) : text.all,
    hint: status?.pull_request_title || (base ? text.against(base) : (status?.branch ?? "")),
  }
  return [...live, branch]
}

/** What is shown when nobody has chosen: the first that has something. */
export function usualSource(repositories: readonly LiveRepository[], status: ChatDiffStatus | null | undefined): string {
  const changed = repositories.find((one) => one.diff)
  if (changed) return changed.root
  if ((status?.changed_files ?? 0) > 0) return wholeBranch
  return repositories[0]?.root ?? wholeBranch
}
