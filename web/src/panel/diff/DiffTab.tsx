import { GitBranch } from "lucide-react"
import { useState } from "react"
import type { Chat } from "../../api/schema"
import { EmptyState, ErrorState } from "../../ui/status/EmptyState"
import { SkeletonLines } from "../../ui/status/Skeleton"
import { words } from "../../words"
import css from "../Panel.module.css"
import { useWorkspace } from "../workspace"
import { WorkspaceGate } from "../WorkspaceGate"
import { BranchDiff } from "./BranchDiff"
import { RepositoryDiff } from "./RepositoryDiff"
import { sourcesOf, usualSource, wholeBranch } from "./sources"
import { useGit } from "./use_git"

/** What a chat has changed: live while its workspace runs, else what is known of its branch. */
export function DiffTab({ chat }: { chat: Chat }) {
  const { id, state } = useWorkspace(chat)
  const isRunning = state === "running"
  const git = useGit(chat.id, isRunning ? id : null)
  const [chosen, setChosen] = useState<string | null>(null)
  const status = chat.diff_status
  const repositories = isRunning ? (git.repositories ?? []) : []

  if (isRunning && git.repositories === null) {
    if (git.isUnanswered) return <ErrorState title={words.panel.diff.unanswered} text={words.panel.diff.unansweredText} />
    return (
      <div className={css["loading"]}>
        <SkeletonLines count={8} />
      </div>
    )
  }
  // Without a workspace that runs, only a pull request can be read.
  if (!isRunning && !status?.url) return <WorkspaceGate chat={chat}>{() => null}</WorkspaceGate>
  if (repositories.length === 0 && !status?.url) {
    return <EmptyState icon={GitBranch} title={words.panel.diff.noRepository} text={words.panel.diff.noRepositoryText} />
  }

  const sources = sourcesOf(repositories, status)
  const value = sources.find((one) => one.value === chosen)?.value ?? usualSource(repositories, status)
  const repository = repositories.find((one) => one.root === value)
  const choice = { sources, value, onChoose: setChosen }
  if (value === wholeBranch || !repository) return <BranchDiff chat={chat} choice={choice} repositories={repositories} />
  return <RepositoryDiff chatId={chat.id} repository={repository} choice={choice} isLive={git.isLive} />
}
