/** The feed of a user's chats. */
import { type Connection, Lasting } from "./lasting"
import { address } from "./request"
import type { WatchEvent } from "./schema"
import { browser, type Surroundings } from "./surroundings"

export interface WatchHooks {
  onEvent(event: WatchEvent): void
  /** It is open, for the first time or again: what happened before was not told, so the list is to be read. */
  onGap(): void
  onConnection?(connection: Connection): void
}

/** Gives what ends it. */
export function watch(hooks: WatchHooks, around: Surroundings = browser): () => void {
  const lasting = new Lasting(
    {
      address: () => address("/api/experimental/chats/watch"),
      came: (values) => values.filter(isWatchEvent).forEach((event) => hooks.onEvent(event)),
      connection: (now) => {
        if (now.state === "open") hooks.onGap()
        hooks.onConnection?.(now)
      },
      placeRefused: () => {},
    },
    around,
  )
  return () => lasting.close()
}

function isWatchEvent(value: unknown): value is WatchEvent {
  return typeof value === "object" && value !== null && "kind" in value && "chat" in value
}
