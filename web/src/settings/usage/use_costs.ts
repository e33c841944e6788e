/** What is asked for the page of costs. */
import { useInfiniteQuery, useQueries, useQuery, type UseQueryResult, queryOptions } from "@tanstack/react-query"
import { queries } from "../../api/queries"
import { request } from "../../api/request"
import type { CostSummary, UserCost } from "../../api/schema"
import type { DayOfModels } from "./figures"
import { daySpan, type Span } from "./periods"

/** More days than this are shown without their models: each is a request of its own. */
const MOST_DAYS = 31
const MOST_TITLES = 20

function summaryOf(user: string, span: Span) {
  return queryOptions({
    queryKey: ["cost", user, span.start_date, span.end_date],
    queryFn: ({ signal }) => request("GET /api/experimental/chats/cost/{user}/summary", { path: { user }, query: { ...span }, signal }),
  })
}

export function useSummary(user: string, span: Span): UseQueryResult<CostSummary> {
  return useQuery(summaryOf(user, span))
}

/** The models of each day that had any; null while they are not all there, and where there are too many. */
export function useDays(user: string, summary: CostSummary): DayOfModels[] | null {
  const days = summary.by_day.filter((one) => one.request_count > 0).map((one) => one.day.slice(0, 10))
  const asked = days.length <= MOST_DAYS ? days : []
  const answers = useQueries({ queries: asked.map((day) => summaryOf(user, daySpan(day))) })
  if (days.length > MOST_DAYS || answers.some((one) => !one.data)) return null
  return asked.map((day, place) => ({ day, models: answers[place]?.data?.by_model ?? [] }))
}

/** Titles of the dearest chats; those that can't be read any more have none. */
export function useTitles(summary: CostSummary): ReadonlyMap<string, string> {
  const ids = summary.by_chat.slice(0, MOST_TITLES).map((one) => one.chat_id)
  const answers = useQueries({ queries: ids.map((id) => queries.chat(id)) })
  return new Map(answers.flatMap((one) => (one.data ? [[one.data.id, one.data.title] as const] : [])))
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
