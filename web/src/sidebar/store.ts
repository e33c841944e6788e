/** The lists of chats: what was read, what the feed tells, and what this page has just asked for. */
import { createStore, type StoreApi } from "zustand/vanilla"
import { request as ask, Unreachable } from "../api/request"
import type { Chat, UpdateChat } from "../api/schema"
import { tellSignedOut } from "../api/session"
import { watch as follow } from "../api/watch"
import { changed, type Known, replacedBy, told, without, withPage } from "./list"

export type View = "active" | "unread" | "archived"

export interface ListState {
  view: View
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
  show(view: View): void
  opened(chat: string | null): void
  more(): Promise<void>
  readAgain(): Promise<void>
  /** Shown at once; taken back, and thrown, when the server refuses. */
  update(chat: Chat, change: UpdateChat): Promise<void>
  add(chat: Chat): void
}

const PAGE = 50

const queryOf: Record<View, string> = { active: "", unread: "has_unread:true", archived: "archived:true" }

export function makeChatList(request: typeof ask = ask, watch: typeof follow = follow): ChatList {
  const state = createStore<ListState>(() => ({
    view: "active",
    known: new Map(),
    open: null,
    hasMore: false,
    isLoading: false,
    isRead: false,
    error: null,
    isLive: false,
  }))
  // A page that was asked for before the view has changed is not wanted any more.
  let asked = 0

  async function read(after: string | null): Promise<void> {
    asked += 1
    const turn = asked
    const { view } = state.getState()
    state.setState({ isLoading: true, error: null })
    try {
      const q = queryOf[view]
      const query = { limit: PAGE, ...(q && { q }), ...(after && { after_id: after }) }
      const page = await request("GET /api/experimental/chats", { query })
      if (turn !== asked) return
      const read = seen(page, state.getState().open)
      const known = after ? withPage(state.getState().known, read) : replacedBy(read)
      state.setState({ known, hasMore: page.length === PAGE, isLoading: false, isRead: true })
    } catch (error) {
      if (turn === asked) state.setState({ isLoading: false, error: error as Error })
    }
  }

  return {
    state,
    start(onChat) {
      return watch({
        onGap: () => void read(null),
        onEvent: (event) => {
          const { view, open, known } = state.getState()
          state.setState({ known: told(known, event, { archived: view === "archived", open }) })
          onChat(event.chat)
        },
        onConnection: (connection) => {
          state.setState({ isLive: connection.state === "open" })
          if (connection.state === "ended" && connection.why === "signed-out") tellSignedOut()
        },
      })
    },
    show(view) {
      if (state.getState().view === view) return
      state.setState({ view, known: new Map(), isRead: false, hasMore: false })
      void read(null)
    },
    opened(chat) {
      const { known } = state.getState()
      state.setState({ open: chat, known: chat ? changed(known, chat, { has_unread: false }) : known })
    },
    async more() {
      const { isLoading, hasMore, known } = state.getState()
      const last = [...known.values()].at(-1)
      if (!isLoading && hasMore && last) await read(last.id)
    },
    readAgain: () => read(null),
    async update(chat, change) {
      const before = state.getState().known
      state.setState({ known: wished(before, chat, change, state.getState().view) })
      try {
        await request("PATCH /api/experimental/chats/{chat}", { path: { chat: chat.id }, body: change })
      } catch (error) {
        // Nobody knows whether it was done: the list does.
        if (error instanceof Unreachable) void read(null)
        else state.setState({ known: putBack(state.getState().known, before, chat.id) })
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

function wished(known: Known, chat: Chat, change: UpdateChat, view: View): Known {
  if (change.archived !== undefined && change.archived !== null && change.archived !== (view === "archived")) return without(known, chat.id)
  const { title, pin_order } = change
  return changed(known, chat.id, {
    ...(typeof title === "string" && { title }),
    ...(typeof pin_order === "number" && { pin_order }),
  })
}

function putBack(now: Known, before: Known, id: string): Known {
  const chat = before.get(id)
  return chat ? withPage(now, [chat]) : now
}
