/** A chat to be looked at in a story or a test: what it shows is given, and what it asks for is written down. */
import type { request } from "../../api/request"
import { browser } from "../../api/surroundings"
import { ChatActions } from "../actions"
import type { OpenedChat } from "../cache"
import { type ChatState, chatStore, setPicture } from "../chat_state"
import type { Picture } from "../picture"
import { chatId } from "./made"
import { unsentInMemory } from "./unsent_in_memory"

export interface ShownChat extends OpenedChat {
  /** Requests in order, such as `POST /api/experimental/chats/{chat}/interrupt`. None of them is answered. */
  readonly asked: readonly { readonly route: string; readonly with: unknown }[]
}

export function shownChat(picture: Picture, more: Partial<ChatState> = {}): ShownChat {
  const asked: { route: string; with: unknown }[] = []
  const unanswered: typeof request = (route, ...[given]) => {
    asked.push({ route, with: given })
    return new Promise(() => {})
  }
  const store = chatStore()
  setPicture(store, picture)
  store.setState({ reading: { state: "read" }, connection: { state: "open" }, ...more })
  const actions = new ChatActions(chatId, store, {
    ...browser,
    request: unanswered,
    follow: () => ({ close: () => {}, hurry: () => {} }),
    frame: (run) => browser.after(0, run),
    newKey: () => `key${asked.length}`,
    signedOut: () => {},
    unsent: unsentInMemory(),
  })
  return { chatId, store, actions, asked, loadOlder: async () => false, loadBackTo: async () => false, retry: () => {}, close: () => {} }
}
