/** The lists of chats: what was read, what the feed tells, and what this page has just asked for. */
import { createStore, type StoreApi } from "zustand/vanilla"
import { request as ask, Unreachable } from "../api/request"
import type { Chat, UpdateChat, WatchEvent } from "../api/schema"
import { tellSignedOut } from "../api/session"
import { watch as follow } from "../api/watch"
import { chimeOnce } from "../browser/chime"
import { chime } from "../browser/kept"
import { type Filters, isSameFilters, noFilters, questionOf } from "./filters"
import { changed, cursorOf, hasEndedTurn, type Known, repinned, told, without, withPage } from "./list"

export interface ListState {
  filters: Filters
  known: Known
  /** The chat that is being read. */
  open: string | null
  hasMore: boolean
  isLoading: boolean
  isRead: boolean
  error: Error | null
  isLive: boolean
}

export interface ChatList {
  state: StoreApi<ListState>
  /** Follows the feed until what it returns is called. Whoever keeps a chat's record is told of the newer one. */
  start(onChat: (chat: Chat) => void): () => void
  filter(filters: Filters): void
  opened(chat: string | null): void
  more(): Promise<void>
  readAgain(): Promise<void>
  /** Shown at once; taken back, and thrown, when the server refuses. */
  update(chat: Chat, change: UpdateChat): Promise<void>
  markRead(chat: Chat): Promise<void>
  add(chat: Chat): void
}

const PAGE = 50
/** That the server gives at once. */
const MOST = 200

export function makeChatList(request: typeof ask = ask, watch: typeof follow = follow): ChatList {
  const state = createStore<ListState>(() => ({
    filters: noFilters,
    known: new Map(),
    open: null,
    hasMore: false,
    isLoading: false,
    isRead: false,
    error: null,
    isLive: false,
  }))
  // A page that was asked for before the filters have changed is not wanted any more.
  let asked = 0
  // When the last chat of the page that was read last had changed, then.
  let floor = ""
  // What the feed has told since a page was asked for: the page may not know it yet.
  let since: WatchEvent[] = []
  // Of all chats that were read or told of, also while a list is shown that does not have them.
  const statuses = new Map<string, Chat["status"]>()

  function heard(known: Known, event: WatchEvent): Known {
    const { filters, open } = state.getState()
    return told(known, event, { archived: filters.has("archived"), open })
  }

  /** As many chats as are wanted: after one, beside those that are known, or from the first one on, in their place. */
  async function read(after: string | null, wanted: number): Promise<void> {
    asked += 1
    const turn = asked
    since = []
    state.setState({ isLoading: true, error: null })
    try {
      const q = questionOf(state.getState().filters)
      const chats: Chat[] = []
      const merged = () => since.reduce(heard, withPage(after ? state.getState().known : new Map(), chats))
      let cursor = after
      let hasMore = true
      for (let left = wanted; left > 0 && hasMore; ) {
        const limit = Math.min(left, MOST)
        const page = await request("GET /api/experimental/chats", { query: { limit, ...(q && { q }), ...(cursor && { after_id: cursor }) } })
        if (turn !== asked) return
        const last = page.at(-1)
        if (last) floor = last.updated_at
        chats.push(...seen(page, state.getState().open))
        cursor = cursorOf(merged(), floor)
        hasMore = page.length === limit
        left -= limit
      }
      const known = merged()
      for (const chat of known.values()) statuses.set(chat.id, chat.status)
      state.setState({ known, hasMore, isLoading: false, isRead: true })
    } catch (error) {
      if (turn === asked) state.setState({ isLoading: false, error: error as Error })
    }
  }

  /** Whoever has scrolled down stays there: as long as it was, the list is read. */
  const readAgain = () => read(null, Math.max(PAGE, state.getState().known.size))

  return {
    state,
    start(onChat) {
      return watch({
        onGap: () => void readAgain(),
        onEvent: (event) => {
          const { open, known, isLoading } = state.getState()
          if (isLoading) since.push(event)
          state.setState({ known: heard(known, event) })
          onChat(event.chat)
          const before = statuses.get(event.chat.id)
          statuses.set(event.chat.id, event.chat.status)
          if (chime.get() && hasEndedTurn(before, event.chat)) {
            void chimeOnce(event.chat.id, event.chat.id === open && document.visibilityState === "visible")
          }
        },
        onConnection: (connection) => {
          state.setState({ isLive: connection.state === "open" })
          if (connection.state === "ended" && connection.why === "signed-out") tellSignedOut()
        },
      })
    },
    filter(filters) {
      if (isSameFilters(state.getState().filters, filters)) return
      state.setState({ filters, known: new Map(), isRead: false, hasMore: false })
      void readAgain()
    },
    opened(chat) {
      const { known } = state.getState()
      state.setState({ open: chat, known: chat ? changed(known, chat, { has_unread: false }) : known })
    },
    async more() {
      const { isLoading, hasMore, known } = state.getState()
      const after = cursorOf(known, floor)
      if (!isLoading && hasMore && after) await read(after, PAGE)
    },
    readAgain,
    async update(chat, change) {
      const before = state.getState().known
      state.setState({ known: wished(before, chat, change, state.getState().filters) })
      try {
        await request("PATCH /api/experimental/chats/{chat}", { path: { chat: chat.id }, body: change })
      } catch (error) {
        // Nobody knows whether it was done, or where the other pins are now: the list does.
        if (error instanceof Unreachable || typeof change.pin_order === "number") void readAgain()
        else state.setState({ known: putBack(state.getState().known, before, chat.id) })
        throw error
      }
    },
    async markRead(chat) {
      const before = state.getState().known
      state.setState({ known: changed(before, chat.id, { has_unread: false }) })
      try {
        await request("PUT /api/experimental/chats/{chat}/read", { path: { chat: chat.id }, body: {} })
      } catch (error) {
        state.setState({ known: putBack(state.getState().known, before, chat.id) })
        throw error
      }
    },
    add(chat) {
      state.setState({ known: withPage(state.getState().known, [chat]) })
    },
  }
}

function seen(page: readonly Chat[], open: string | null): Chat[] {
  return page.map((chat) => (chat.id === open ? { ...chat, has_unread: false } : chat))
}

function wished(known: Known, chat: Chat, { archived, title, pin_order }: UpdateChat, filters: Filters): Known {
  if (typeof archived === "boolean" && archived !== filters.has("archived")) return without(known, chat.id)
  const named = typeof title === "string" ? changed(known, chat.id, { title }) : known
  return typeof pin_order === "number" ? repinned(named, chat.id, pin_order) : named
}

function putBack(now: Known, before: Known, id: string): Known {
  const chat = before.get(id)
  return chat ? withPage(now, [chat]) : now
}
