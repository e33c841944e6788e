import type { Chat } from "../api/schema"
import type { ChatList } from "./store"

/** Takes back that it was archived: also its pin, which it lost by that. */
export async function bringBack(list: ChatList, chat: Chat): Promise<void> {
  await list.update(chat, { archived: false })
  if (chat.pin_order > 0) await list.update(chat, { pin_order: chat.pin_order })
}
