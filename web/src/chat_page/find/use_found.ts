/** What the server has found: it knows the messages that were not loaded yet. */
import { useEffect, useState } from "react"
import { request } from "../../api/request"
import type { FoundMessages } from "../../api/schema"

export interface Hit {
  readonly messageId: number
  /** Which one in its message, from 0. */
  readonly nth: number
}

export interface Found {
  /** What was looked for. */
  readonly words: string
  /** The newest first. */
  readonly hits: readonly Hit[]
  /** There are more than these. */
  readonly isCut: boolean
  readonly error: Error | null
}

export const nothingFound: Found = { words: "", hits: [], isCut: false, error: null }

const DELAY = 150
const MOST = 1000

export function hitsOf({ messages, has_more }: FoundMessages, words: string): Found {
  const hits = messages.flatMap(({ id, places }) => Array.from({ length: places }, (_, at) => ({ messageId: id, nth: places - 1 - at })))
  return { words, hits, isCut: has_more, error: null }
}

/** Another `newest` message makes it look again. What was found stays until then. */
export function useFound(chatId: string, words: string, newest: number): Found {
  const [found, setFound] = useState(nothingFound)
  useEffect(() => {
    if (words === "") return setFound(nothingFound)
    const controller = new AbortController()
    const look = async () => {
      try {
        const asked = { path: { chat: chatId }, query: { q: words, limit: MOST }, signal: controller.signal }
        setFound(hitsOf(await request("GET /api/experimental/chats/{chat}/messages/search", asked), words))
      } catch (error) {
        if (!controller.signal.aborted) setFound({ ...nothingFound, words, error: error as Error })
      }
    }
    const timer = setTimeout(() => void look(), DELAY)
    return () => {
      clearTimeout(timer)
      controller.abort()
    }
  }, [chatId, words, newest])
  return found
}
