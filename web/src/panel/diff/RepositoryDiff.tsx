import { useMemo } from "react"
import type { LiveRepository } from "../../api/events"
import { parseDiff } from "../../ui/diff/parse"
import { Banner } from "../../ui/status/Banner"
import { EmptyState } from "../../ui/status/EmptyState"
import { words } from "../../words"
import { Changes, type SourceChoice } from "./Changes"

export interface RepositoryDiffProps {
  chatId: string
  repository: LiveRepository
  choice: SourceChoice
  isLive: boolean
}

/** What is not committed in one repository, as it changes. */
export function RepositoryDiff({ chatId, repository, choice, isLive }: RepositoryDiffProps) {
  const { diff = "", is_diff_complete = true, ahead, behind, error, root } = repository
  const parsed = useMemo(() => parseDiff(diff), [diff])
  const text = words.panel.diff
  const place = [ahead ? text.ahead(ahead) : "", behind ? text.behind(behind) : "", isLive ? "" : text.lost].filter(Boolean).join(" · ")
  return (
    <Changes
      chatId={chatId}
      files={parsed.files}
      notes={is_diff_complete ? parsed.notes : [...parsed.notes, text.cut]}
      root={root}
      choice={choice}
      place={place}
      above={error ? <Banner kind="warn" title={error} /> : null}
      empty={<EmptyState title={text.nothing} text={text.nothingText} />}
    />
  )
}
