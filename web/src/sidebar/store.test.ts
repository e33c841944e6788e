import { describe, expect, test } from "vitest"
import type { request } from "../api/request"
import type { Chat } from "../api/schema"
import type { watch } from "../api/watch"
import { makeChatList } from "./store"
import { chat } from "./testing/made"

/** A list whose pages are answered, and whose feed is told, by the test. */
function made() {
  const pages: ((page: Chat[]) => void)[] = []
  const questions: unknown[] = []
  const ask = (_: string, { query }: { query: unknown }) => {
    questions.push(query)
    return new Promise((resolve) => pages.push(resolve))
  }
  let feed: Parameters<typeof watch>[0] | undefined
  const list = makeChatList(ask as unknown as typeof request, (wanted) => {
    feed = wanted
    return () => undefined
  })
  list.start(() => undefined)
  const answered = async (page: Chat[]) => {
    pages.shift()?.(page)
    await new Promise(setImmediate)
  }
  return { list, answered, questions, gap: () => feed?.onGap(), tell: (one: Chat) => feed?.onEvent({ kind: "status_change", chat: one }) }
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

describe("a list that was scrolled down", () => {
  const many = (from: number, to: number) => Array.from({ length: to - from }, (_, place) => chat(`c${from + place}`, { updated_at: at(from + place) }))
  const at = (place: number) => new Date(Date.UTC(2026, 0, 10) - place * 60_000).toISOString()

  async function scrolled() {
    const parts = made()
    parts.gap()
    await parts.answered(many(0, 50))
    for (const from of [50, 100, 150, 200]) {
      void parts.list.more()
      await parts.answered(many(from, from + 50))
    }
    parts.questions.length = 0
    return parts
  }

  test("is as long as it was when it was read again, and is not shorter meanwhile", async () => {
    const { list, answered, gap, questions } = await scrolled()
    gap()
    await answered(many(0, 200))
    expect(list.state.getState()).toMatchObject({ isLoading: true, hasMore: true })
    expect(ids(list)).toHaveLength(250)
    await answered(many(200, 249))
    expect(questions).toEqual([{ limit: 200 }, { limit: 50, after_id: "c199" }])
    expect(list.state.getState()).toMatchObject({ isLoading: false, hasMore: false })
    expect(ids(list)).toEqual(many(0, 249).map((one) => one.id))
  })

  test("is not put together of two answers that do not fit when a chat moves up between them", async () => {
    const { list, answered, gap, tell, questions } = await scrolled()
    gap()
    await answered(many(0, 199).concat(chat("c300", { updated_at: at(199) })))
    expect(questions.at(-1)).toMatchObject({ after_id: "c300" })
    tell(chat("c300", { updated_at: at(-1) }))
    await answered(many(199, 249))
    expect(new Set(ids(list))).toEqual(new Set([...many(0, 249), chat("c300")].map((one) => one.id)))
  })

  test("keeps what was archived here while a page comes", async () => {
    const { list, answered } = made()
    list.state.setState({ known: new Map(many(0, 50).map((one) => [one.id, one])), hasMore: true })
    void list.more()
    const [first] = list.state.getState().known.values()
    if (first) void list.update(first, { archived: true })
    await answered(many(50, 60))
    expect(ids(list)).toEqual(many(1, 60).map((one) => one.id))
  })
})
