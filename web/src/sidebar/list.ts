/** The list of chats as data: pages that were read, and what the feed has told since. Pure. */
import type { Chat, ChatDiffStatus, WatchEvent } from "../api/schema"

export interface Shown {
  pinned: Chat[]
  groups: { name: GroupName; chats: Chat[] }[]
}

export type GroupName = "today" | "yesterday" | "week" | "older"

/** Chats by the id of their root. A page that was read and an event both say everything about a chat. */
export type Known = ReadonlyMap<string, Chat>

export function withPage(known: Known, page: readonly Chat[]): Known {
  const next = new Map(known)
  for (const chat of page) next.set(chat.id, chat)
  return next
}

/** `archived` says which of the two lists this is; `open` is the chat that is being read, which has no unread mark. */
export function told(known: Known, event: WatchEvent, { archived, open }: { archived: boolean; open: string | null }): Known {
  const chat = event.chat.id === open ? { ...event.chat, has_unread: false } : event.chat
  if (chat.parent_chat_id) return withChild(known, chat)
  if (chat.archived !== archived) return without(known, chat.id)
  const before = known.get(chat.id)
  const next = new Map(known)
  next.set(chat.id, before ? { ...chat, children: mergedChildren(before.children, chat.children) } : chat)
  return next
}

export function without(known: Known, id: string): Known {
  if (!known.has(id)) return known
  const next = new Map(known)
  next.delete(id)
  return next
}

export function changed(known: Known, id: string, change: Partial<Chat>): Known {
  const chat = known.get(id)
  if (!chat) return known
  const next = new Map(known)
  next.set(id, { ...chat, ...change })
  return next
}

function withChild(known: Known, child: Chat): Known {
  const root = known.get(child.root_chat_id)
  if (!root) return known
  const others = root.children.filter((one) => one.id !== child.id)
  return changed(known, root.id, { children: [...others, child].sort(byCreation) })
}

/** By itself or with an error: who has stopped one knows that it has ended. Turns of sub-agents are part of their chat's. */
export function hasEndedTurn(before: Chat["status"] | undefined, now: Chat): boolean {
  return before === "running" && (now.status === "waiting" || now.status === "error") && !now.parent_chat_id
}

/** A child has events of its own, so what is known of it may be newer than what its root's event says. */
function mergedChildren(before: readonly Chat[], now: readonly Chat[]): Chat[] {
  const known = new Map(before.map((child) => [child.id, child]))
  return now.map((child) => {
    const earlier = known.get(child.id)
    return earlier && earlier.updated_at > child.updated_at ? earlier : child
  })
}

/** As the server numbers them: one that was not pinned becomes the last, 0 unpins. */
export function repinned(known: Known, id: string, place: number): Known {
  const target = known.get(id)
  if (!target) return known
  const order = pinnedOf(known).filter((chat) => chat.id !== id)
  if (place > 0) order.splice(target.pin_order === 0 ? order.length : place - 1, 0, target)
  const next = new Map(known)
  next.set(id, { ...target, pin_order: 0 })
  for (const [index, chat] of order.entries()) if (chat.pin_order !== index + 1 || chat.id === id) next.set(chat.id, { ...chat, pin_order: index + 1 })
  return next
}

export function pinnedOf(known: Known): Chat[] {
  return [...known.values()].filter((chat) => chat.pin_order > 0).sort(byPin)
}

/**
 * After which chat the next page begins. Chats move up as they change, and new ones come, so the last of the page that was read
 * may be anywhere by now: it is the oldest of those that are as new as that one was then. `floor` is when that was.
 */
export function cursorOf(known: Known, floor: string): string | null {
  const read = [...known.values()].filter((chat) => chat.pin_order === 0 && chat.updated_at >= floor)
  return read.sort(byActivity).at(-1)?.id ?? pinnedOf(known).at(-1)?.id ?? null
}

const byCreation = (a: Chat, b: Chat) => (a.created_at < b.created_at ? -1 : 1)
const byActivity = (a: Chat, b: Chat) => (a.updated_at > b.updated_at ? -1 : a.updated_at < b.updated_at ? 1 : a.id > b.id ? -1 : 1)
const byPin = (a: Chat, b: Chat) => a.pin_order - b.pin_order

const DAY = 86_400_000

export function groupOf(updatedAt: string, now: Date): GroupName {
  const midnight = new Date(now.getFullYear(), now.getMonth(), now.getDate()).getTime()
  const then = Date.parse(updatedAt)
  if (then >= midnight) return "today"
  if (then >= midnight - DAY) return "yesterday"
  return then >= midnight - 6 * DAY ? "week" : "older"
}

export function shown(known: Known, now: Date, isWanted: (chat: Chat) => boolean = () => true): Shown {
  const chats = [...known.values()].filter(isWanted)
  const rest = chats.filter((chat) => chat.pin_order === 0).sort(byActivity)
  const names: GroupName[] = ["today", "yesterday", "week", "older"]
  const groups = names.map((name) => ({ name, chats: rest.filter((chat) => groupOf(chat.updated_at, now) === name) }))
  return {
    pinned: pinnedOf(new Map(chats.map((chat) => [chat.id, chat]))),
    groups: groups.filter((group) => group.chats.length > 0),
  }
}

export type PullRequest = "open" | "draft" | "merged" | "closed"

export function pullRequestOf(diff: ChatDiffStatus): PullRequest | null {
  if (!diff.pull_request_state) return null
  return diff.pull_request_state === "open" && diff.pull_request_draft ? "draft" : diff.pull_request_state
}
