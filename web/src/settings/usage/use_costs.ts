/** What is asked for the page of costs. */
import { useInfiniteQuery, useQuery, type UseQueryResult } from "@tanstack/react-query"
import { request } from "../../api/request"
import type { CostSummary, UserCost, UserCostPage } from "../../api/schema"
import type { Span } from "./periods"

export function useSummary(user: string, span: Span): UseQueryResult<CostSummary> {
  return useQuery({
    queryKey: ["cost", user, span.start_date, span.end_date],
    queryFn: ({ signal }) => request("GET /api/experimental/chats/cost/{user}/summary", { path: { user }, query: { ...span }, signal }),
    staleTime: 0,
    refetchOnWindowFocus: true,
  })
}

/** Of all users, for a file: the page shows those that were asked for. null: nobody waits for it any more. */
export async function everyonesCosts(span: Span, signal: AbortSignal): Promise<UserCost[] | null> {
  const users: UserCost[] = []
  try {
    for (let after: string | null | undefined; after !== null; ) {
      const page: UserCostPage = await request("GET /api/experimental/chats/cost/users", { query: { ...span, limit: 100, ...(after && { after }) }, signal })
      users.push(...page.users)
      after = page.next_after
    }
  } catch (error) {
    if (signal.aborted) return null
    throw error
  }
  return users
}

export function useUserCosts(span: Span, isAllowed: boolean) {
  const pages = useInfiniteQuery({
    queryKey: ["cost", "users", span.start_date, span.end_date],
    queryFn: ({ pageParam, signal }) =>
      request("GET /api/experimental/chats/cost/users", { query: { ...span, ...(pageParam !== null && { after: pageParam }) }, signal }),
    initialPageParam: null as string | null,
    getNextPageParam: (page) => page.next_after,
    enabled: isAllowed,
  })
  const users: UserCost[] = pages.data?.pages.flatMap((page) => page.users) ?? []
  return { users, hasMore: pages.hasNextPage, more: () => void pages.fetchNextPage(), isFetching: pages.isFetchingNextPage, isError: pages.isError }
}
