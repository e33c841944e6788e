/** Chats in a browser. */
import { newKey } from "../api/new_key"
import { follow } from "../api/follow"
import { request } from "../api/request"
import { tellSignedOut } from "../api/session"
import { browser } from "../api/surroundings"
import { Beginnings } from "./beginnings"
import { type OpenedChat, RecentChats } from "./cache"
import type { ChatSurroundings } from "./chat_state"
import { browserUnsent } from "./unsent"

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
  unsent: browserUnsent,
}

const recent = new RecentChats(browserChats)

/** Chats that have not begun: their first messages are on their way. */
export const beginnings = new Beginnings(browserChats)

/** What an earlier page of this person has left without an answer goes out again. Gives what ends following what other tabs do about it. */
export function resumeUnsent(): () => void {
  recent.resume()
  beginnings.resume()
  return browserUnsent.onForgotten((key) => {
    recent.forgotten(key)
    beginnings.forgotten(key)
  })
}

/** Opens a chat to be looked at, until it is closed. One that was open a moment ago shows at once. */
export function openChat(chatId: string): OpenedChat {
  return recent.open(chatId)
}
