/** The state of one chat, and what it needs of the world around it. */
import { createStore, type StoreApi } from "zustand/vanilla"
import type { follow } from "../api/follow"
import type { Connection } from "../api/lasting"
import type { Refused, request } from "../api/request"
import type { Surroundings } from "../api/surroundings"
import { emptyPicture, type Picture } from "./picture"
import { nothingSent, type Overlay, settledOverlay } from "./sending"
import type { UnsentStore } from "./unsent"

export interface ChatState {
  readonly picture: Picture
  readonly overlay: Overlay
  readonly connection: Connection
  /** Of the newest messages. Whatever it is, the picture is what is known. */
  readonly reading: Reading
  /** Of older messages. */
  readonly older: Reading
}

export type Reading = { readonly state: "reading" } | { readonly state: "read" } | { readonly state: "refused"; readonly refused: Refused | null }

export type ChatStore = StoreApi<ChatState>

export interface ChatSurroundings extends Surroundings {
  readonly request: typeof request
  readonly follow: typeof follow
  /** Runs it before the next picture is drawn, or soon when none is. Gives what takes it back. */
  frame(run: () => void): () => void
  /** A key that nobody else has. */
  newKey(): string
  signedOut(): void
  readonly unsent: UnsentStore
}

export function chatStore(): ChatStore {
  return createStore<ChatState>(() => ({
    picture: emptyPicture,
    overlay: nothingSent,
    connection: { state: "connecting", attempt: 0 },
    reading: { state: "reading" },
    older: { state: "read" },
  }))
}

export function setPicture(store: ChatStore, picture: Picture): void {
  const before = store.getState()
  if (picture === before.picture) return
  store.setState({ picture, overlay: settledOverlay(before.overlay, picture) })
}

export function changeOverlay(store: ChatStore, change: (overlay: Overlay, picture: Picture) => Overlay): void {
  const { overlay, picture } = store.getState()
  const changed = settledOverlay(change(overlay, picture), picture)
  if (changed !== overlay) store.setState({ overlay: changed })
}
