import { describe, expect, test } from "vitest"
import type { request } from "../api/request"
import type { Chat } from "../api/schema"
import type { watch } from "../api/watch"
import { makeChatList } from "./store"
import { chat } from "./testing/made"

/** A list whose pages are answered, and whose feed is told, by the test. */
function made() {
  const pages: ((page: Chat[]) => void)[] = []
  const ask = () => new Promise((resolve) => pages.push(resolve))
  let feed: Parameters<typeof watch>[0] | undefined
  const list = makeChatList(ask as typeof request, (wanted) => {
    feed = wanted
    return () => undefined
  })
  list.start(() => undefined)
  const answered = async (page: Chat[]) => {
    pages.shift()?.(page)
    await new Promise(setImmediate)
  }
  return { list, answered, gap: () => feed?.onGap(), tell: (one: Chat) => feed?.onEvent({ kind: "status_change", chat: one }) }
}

const ids = ({ state }: ReturnType<typeof makeChatList>) => [...state.getState().known.keys()]

describe("a list that is read while things happen", () => {
  test("keeps a chat that began after the page was put together", async () => {
    const { list, answered, gap, tell } = made()
    gap()
    tell(chat("new"))
    await answered([chat("old")])
    expect(ids(list)).toEqual(["old", "new"])
  })

  test("keeps what was told of a chat that the page has as it was", async () => {
    const { list, answered, gap, tell } = made()
    gap()
    tell(chat("a", { status: "running" }))
    await answered([chat("a")])
    expect(list.state.getState().known.get("a")?.status).toBe("running")
  })

  test("lets go of what is gone, though it was told of before", async () => {
    const { list, answered, gap, tell } = made()
    gap()
    await answered([chat("a"), chat("b")])
    tell(chat("b"))
    gap()
    await answered([chat("a")])
    expect(ids(list)).toEqual(["a"])
  })
})
