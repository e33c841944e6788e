/** What of the list is wanted: any of these at once. In the address, so that a view can be kept and shared. */
import type { Chat } from "../api/schema"

export const filterNames = ["unread", "running", "error", "pr", "archived"] as const
export type FilterName = (typeof filterNames)[number]
export type Filters = ReadonlySet<FilterName>

export const noFilters: Filters = new Set()

/** Of the address; what it says in vain is left out. */
export const filterParameter = "list"

const working: readonly Chat["status"][] = ["running", "interrupting", "requires_action"]

export function readFilters(search: string): Filters {
  const asked = (new URLSearchParams(search).get(filterParameter) ?? "").split(",")
  const found = filterNames.filter((name) => asked.includes(name))
  return found.length > 0 ? new Set(found) : noFilters
}

/** The search part of an address, with these in it and all else as it was. */
export function writeFilters(search: string, filters: Filters): string {
  const written = new URLSearchParams(search)
  if (filters.size > 0) written.set(filterParameter, filterNames.filter((name) => filters.has(name)).join(","))
  else written.delete(filterParameter)
  return written.toString().replaceAll("%2C", ",")
}

export function isSameFilters(one: Filters, other: Filters): boolean {
  return one.size === other.size && [...one].every((name) => other.has(name))
}

/** As the server is asked. */
export function questionOf(filters: Filters): string {
  const statuses = statusesOf(filters)
  return [
    filters.has("archived") && "archived:true",
    filters.has("unread") && "has_unread:true",
    statuses.length > 0 && `status:${statuses.join(",")}`,
    filters.has("pr") && "pr_status:open,draft,merged,closed",
  ]
    .filter(Boolean)
    .join(" ")
}

/** The same, for what the feed tells. The chat that is open stays in a list of unread ones: else it would go when it is clicked. */
export function isWanted(chat: Chat, filters: Filters, open: string | null): boolean {
  if (filters.has("unread") && !chat.has_unread && chat.id !== open) return false
  if (filters.has("pr") && !chat.diff_status?.pull_request_state) return false
  const statuses = statusesOf(filters)
  return statuses.length === 0 || statuses.includes(chat.status)
}

/** Working and failed ones together are those that are one or the other. */
function statusesOf(filters: Filters): Chat["status"][] {
  return [...(filters.has("running") ? working : []), ...(filters.has("error") ? (["error"] as const) : [])]
}
