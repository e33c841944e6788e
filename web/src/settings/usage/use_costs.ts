/** What is asked for the page of costs. */
import { useInfiniteQuery, useQuery, type UseQueryResult } from "@tanstack/react-query"
import { request } from "../../api/request"
import type { CostSummary, UserCost } from "../../api/schema"
import type { Span } from "./periods"

export function useSummary(user: string, span: Span): UseQueryResult<CostSummary> {
  return useQuery({
    queryKey: ["cost", user, span.start_date, span.end_date],
    queryFn: ({ signal }) => request("GET /api/experimental/chats/cost/{user}/summary", { path: { user }, query: { ...span }, signal }),
    staleTime: 0,
    refetchOnWindowFocus: true,
  })
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
