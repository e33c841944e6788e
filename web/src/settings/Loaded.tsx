import type { UseQueryResult } from "@tanstack/react-query"
import type { ReactNode } from "react"
import { Refused } from "../api/request"
import { ErrorState } from "../ui/status/EmptyState"
import { SkeletonLines } from "../ui/status/Skeleton"
import { words } from "../words/with_settings"

/** What was asked for, or that it is coming, or why it does not. */
export function Loaded<T>({ query, lines = 4, children }: { query: UseQueryResult<T>; lines?: number; children: (data: T) => ReactNode }) {
  if (query.data !== undefined) return children(query.data)
  if (!query.isError) return <SkeletonLines count={lines} height="20px" />
  return (
    <ErrorState
      title={words.settings.notLoaded}
      text={query.error instanceof Refused ? query.error.message : words.common.notReached}
      onRetry={() => void query.refetch()}
      isRetrying={query.isFetching}
    />
  )
}
