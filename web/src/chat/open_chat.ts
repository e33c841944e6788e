/** Chats in a browser. */
import { newKey } from "../api/new_key"
import { follow } from "../api/follow"
import { request } from "../api/request"
import { tellSignedOut } from "../api/session"
import { browser } from "../api/surroundings"
import { type OpenedChat, RecentChats } from "./cache"
import type { ChatSurroundings } from "./chat_state"

/** Pages that nobody sees draw nothing, and still have to keep up. */
const unseenMs = 250

export const browserChats: ChatSurroundings = {
  ...browser,
  request,
  follow,
  frame: (run) => {
    let isDone = false
    const once = () => {
      if (isDone) return
      isDone = true
      cancel()
      run()
    }
    const drawn = requestAnimationFrame(once)
    const timer = setTimeout(once, unseenMs)
    const cancel = () => {
      isDone = true
      cancelAnimationFrame(drawn)
      clearTimeout(timer)
    }
    return cancel
  },
  newKey,
  signedOut: tellSignedOut,
}

const recent = new RecentChats(browserChats)

/** Opens a chat to be looked at, until it is closed. One that was open a moment ago shows at once. */
export function openChat(chatId: string): OpenedChat {
  return recent.open(chatId)
}
