import { queryOptions, useQuery } from "@tanstack/react-query"
import { ExternalLink, RotateCw } from "lucide-react"
import { useMemo } from "react"
import type { LiveRepository } from "../../api/events"
import { Refused, request } from "../../api/request"
import type { Chat } from "../../api/schema"
import { IconButton } from "../../ui/buttons/IconButton"
import { parseDiff } from "../../ui/diff/parse"
import { safeAddress } from "../../ui/markdown/links"
import { EmptyState, ErrorState } from "../../ui/status/EmptyState"
import { SkeletonLines } from "../../ui/status/Skeleton"
import { words } from "../../words"
import { Changes, type SourceChoice } from "./Changes"
import css from "./Changes.module.css"

/** `mark` makes it another question when the branch has moved. */
const branchDiff = (chatId: string, mark: string) =>
  queryOptions({
    queryKey: ["chats", "diff", chatId, mark],
    queryFn: ({ signal }) => request("GET /api/experimental/chats/{chat}/diff", { path: { chat: chatId }, signal }),
    placeholderData: (before) => before,
  })

export interface BranchDiffProps {
  chat: Chat
  choice: SourceChoice
  repositories: readonly LiveRepository[]
}

/** All that a branch has changed, or its pull request. */
export function BranchDiff({ chat, choice, repositories }: BranchDiffProps) {
  const status = chat.diff_status
  const mark = [status?.additions, status?.deletions, status?.refreshed_at, repositories[0]?.head].join(" ")
  const read = useQuery(branchDiff(chat.id, mark))
  const diff = read.data?.diff ?? ""
  const parsed = useMemo(() => parseDiff(diff), [diff])
  const text = words.panel.diff
  const url = safeAddress(read.data?.pull_request_url ?? status?.url ?? "")

  if (read.error && !read.data) {
    const isNone = read.error instanceof Refused && (read.error.status === 409 || read.error.status === 404)
    if (isNone) return <EmptyState title={text.noRepository} text={read.error.message} />
    return <ErrorState title={text.failed} text={read.error.message} onRetry={() => void read.refetch()} isRetrying={read.isFetching} />
  }
  const isUnknown = typeof read.data?.diff !== "string"
  return (
    <Changes
      chatId={chat.id}
      files={parsed.files}
      notes={read.data?.is_complete === false ? [...parsed.notes, text.cut] : parsed.notes}
      root={null}
      choice={choice}
      place={read.data?.branch ?? status?.branch ?? ""}
      end={
        <>
          {url && (
            <a href={url} target="_blank" rel="noreferrer" className={css["link"]} aria-label={text.openRequest} title={text.openRequest}>
              <ExternalLink size={16} aria-hidden />
            </a>
          )}
          <IconButton name={text.refresh} icon={RotateCw} size="small" isBusy={read.isFetching} onClick={() => void read.refetch()} />
        </>
      }
      empty={read.data ? <Nothing isUnknown={isUnknown} /> : <Loading />}
    />
  )
}

function Nothing({ isUnknown }: { isUnknown: boolean }) {
  const text = words.panel.diff
  if (isUnknown) return <EmptyState title={text.notKnown} text={text.notKnownText} />
  return <EmptyState title={text.nothing} text={text.nothingOnBranch} />
}

function Loading() {
  return (
    <div className={css["loading"]}>
      <SkeletonLines count={8} />
    </div>
  )
}
