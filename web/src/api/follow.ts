/** The stream of one chat. */
import type { StreamEvent } from "./events"
import { type Connection, Lasting } from "./lasting"
import { address } from "./request"
import { browser, type Surroundings } from "./surroundings"

/** Where to begin: after an event, after a message (0: all of them), or with everything. */
export interface Place {
  readonly after?: string | null
  readonly afterId?: number
}

export interface Followed {
  close(): void
  /** Tries now instead of later. */
  hurry(): void
}

export interface FollowHooks {
  /** Events that came together, in order. */
  onEvents(events: readonly StreamEvent[]): void
  onConnection(connection: Connection): void
  /** The last id is none of this server's. Everything comes anew after this, unless the stream is closed here. */
  onRestart(): void
}

export function follow(chatId: string, from: Place, hooks: FollowHooks, around: Surroundings = browser): Followed {
  let place = from
  return new Lasting(
    {
      address: () => address("/api/experimental/chats/{chat}/stream", { chat: chatId }, queryOf(place)),
      came: (values) => {
        const events = values.flatMap(eventsIn)
        const last = events.findLast((event) => typeof event.id === "string")?.id
        if (last) place = { after: last }
        hooks.onEvents(events)
      },
      connection: (now) => hooks.onConnection(now),
      placeRefused: () => {
        place = {}
        hooks.onRestart()
      },
    },
    around,
  )
}

function queryOf({ after, afterId }: Place): Record<string, unknown> {
  if (after) return { after }
  return afterId ? { after_id: afterId } : {}
}

/** A WebSocket brings lists, server-sent events single ones. */
function eventsIn(value: unknown): StreamEvent[] {
  return (Array.isArray(value) ? value : [value]).filter(isEvent)
}

function isEvent(value: unknown): value is StreamEvent {
  return typeof value === "object" && value !== null && "type" in value && typeof value.type === "string"
}
