import type { Chat, UpdateChat } from "./schema"

/** Takes back that a chat was archived, and with it its pin, which it lost by that. `chat` is as it was before. */
export function broughtBack({ pin_order }: Chat): UpdateChat {
  return pin_order > 0 ? { archived: false, pin_order } : { archived: false }
}
