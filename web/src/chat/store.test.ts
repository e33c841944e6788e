import { beforeEach, describe, expect, it } from "vitest"
import { follow } from "../api/follow"
import { Refused, type request, Unreachable } from "../api/request"
import type { ChatMessage } from "../api/schema"
import { FakeSurroundings } from "../api/testing/fake_surroundings"
import { RecentChats } from "./cache"
import type { ChatSurroundings } from "./chat_state"
import { asked, page, part, previewReset, said, status, stored, text, wire } from "./testing/made"
import { unsentInMemory } from "./testing/unsent_in_memory"

interface Asked {
  path: { chat: string }
  query?: { limit: number; before_id?: number }
}

let around: FakeSurroundings & ChatSurroundings
let frames: (() => void)[]
let pages: Asked[]
let history: ChatMessage[]
let fails: Error[]
let signedOut: number
let chats: RecentChats

beforeEach(() => {
  frames = []
  pages = []
  fails = []
  signedOut = 0
  history = [asked(1), said(2), asked(3), said(4)]
  const answer = async (_: string, given: Asked) => {
    pages.push(given)
    const failure = fails.shift()
    if (failure) throw failure
    const { limit = 50, before_id = Infinity } = given.query ?? {}
    const found = history.filter((one) => one.id < before_id)
    return page(found.slice(-limit), found.length > limit)
  }
  around = Object.assign(new FakeSurroundings(), {
    request: answer as typeof request,
    follow,
    frame: (run: () => void) => {
      frames.push(run)
      return () => void (frames = frames.filter((one) => one !== run))
    },
    newKey: () => "key",
    signedOut: () => void signedOut++,
    unsent: unsentInMemory(),
  })
  chats = new RecentChats(around)
})

const draw = () => frames.splice(0).forEach((run) => run())
const bring = (...events: object[]) => around.last.message(JSON.stringify(events))
const many = (count: number) => Array.from({ length: count }, (_, place) => (place % 2 ? said(place + 1) : asked(place + 1)))
const reset = wire({ id: "reset", type: "history_reset", chat_id: "c" })

describe("a chat that is opened", () => {
  it("reads its newest messages, then follows after the newest of them", async () => {
    history = many(120)
    const chat = chats.open("c")
    expect(chat.store.getState().reading.state).toBe("reading")
    await around.pass(0)
    expect(pages).toEqual([{ path: { chat: "c" }, query: { limit: 50 }, signal: expect.anything() }])
    expect(around.last.url).toBe("/api/experimental/chats/c/stream?after_id=120")
    expect(chat.store.getState()).toMatchObject({ reading: { state: "read" }, picture: { hasOlder: true } })
    expect(chat.store.getState().picture.messages).toHaveLength(50)
  })

  it("is updated once for all that comes before a picture is drawn", async () => {
    const chat = chats.open("c")
    await around.pass(0)
    around.last.opened()
    let updates = 0
    chat.store.subscribe(() => (updates += 1))
    bring(stored(asked(5)), status("running"), previewReset())
    for (let chunk = 0; chunk < 20; chunk++) bring(part(text("word ")))
    expect(updates).toBe(0)
    draw()
    expect(updates).toBe(1)
    expect(chat.store.getState().picture).toMatchObject({ status: "running", parts: [{ text: "word ".repeat(20) }] })
    expect(frames).toHaveLength(0)
  })

  it("reads older messages when they are asked for, once at a time", async () => {
    history = many(120)
    const chat = chats.open("c")
    await around.pass(0)
    const [one, other] = [chat.loadOlder(), chat.loadOlder()]
    expect(chat.store.getState().older.state).toBe("reading")
    expect(await one).toBe(true)
    await other
    expect(pages).toHaveLength(2)
    expect(pages[1]?.query).toEqual({ limit: 50, before_id: 71 })
    expect(await chat.loadOlder()).toBe(false)
    expect(chat.store.getState().picture.messages).toEqual(history)
    expect(await chat.loadOlder()).toBe(false)
    expect(pages).toHaveLength(3)
  })

  it("says when older messages could not be read, and tries again when asked", async () => {
    history = many(60)
    const chat = chats.open("c")
    await around.pass(0)
    fails = [new Unreachable("gone")]
    expect(await chat.loadOlder()).toBe(true)
    expect(chat.store.getState().older.state).toBe("refused")
    expect(await chat.loadOlder()).toBe(false)
    expect(chat.store.getState().older.state).toBe("read")
  })

  it("reads back to a message", async () => {
    history = many(700)
    const chat = chats.open("c")
    await around.pass(0)
    expect(await chat.loadBackTo(300)).toBe(true)
    expect(chat.store.getState().picture.messages[0]?.id).toBeLessThanOrEqual(300)
    expect(await chat.loadBackTo(9999)).toBe(false)
    fails = [new Unreachable("gone")]
    expect(await chat.loadBackTo(1)).toBe(false)
  })

  it("is tried again while the server is away, and says when it is not to be had", async () => {
    fails = [new Unreachable("gone"), new Unreachable("gone")]
    const chat = chats.open("c")
    await around.pass(100)
    expect(chat.store.getState().connection).toMatchObject({ state: "connecting", attempt: 1 })
    await around.pass(5000)
    expect(chat.store.getState().reading.state).toBe("read")
    const refused = new Refused(404, { message: "There is no such chat." })
    fails = [refused]
    const other = chats.open("other")
    await around.pass(0)
    expect(other.store.getState().reading).toEqual({ state: "refused", refused })
    other.retry()
    await around.pass(0)
    expect(other.store.getState().reading.state).toBe("read")
  })

  it("tells when the session has ended", async () => {
    const chat = chats.open("c")
    await around.pass(0)
    around.last.opened()
    around.last.closed("The session has ended. Sign in again.")
    expect(signedOut).toBe(1)
    expect(chat.store.getState().connection).toEqual({ state: "ended", why: "signed-out" })
    expect(chat.store.getState().picture.messages).toHaveLength(4)
  })
})

describe("a chat of someone who is signed out", () => {
  it("is read when they have signed in", async () => {
    fails = [new Refused(401, { message: "Sign in." })]
    const chat = chats.open("c")
    await around.pass(60_000)
    expect(chat.store.getState().reading.state).toBe("reading")
    expect(pages).toHaveLength(1)
    around.happen("signed-in")
    await around.pass(0)
    expect(chat.store.getState().reading.state).toBe("read")
  })
})

describe("a history that is sent anew", () => {
  it("is taken from the stream when it is short", async () => {
    const chat = chats.open("c")
    await around.pass(0)
    around.last.opened()
    bring(reset, stored(asked(1)), stored(asked(9, "other")), status("running"))
    draw()
    expect(chat.store.getState().picture.messages.map((one) => one.id)).toEqual([1, 9])
    expect(pages).toHaveLength(1)
  })

  it("is read by its end when it is long, with the old one in view until then", async () => {
    history = many(400)
    const chat = chats.open("c")
    await around.pass(0)
    around.last.opened()
    bring(status("running"))
    draw()
    await chat.loadOlder()
    const before = chat.store.getState().picture
    history = [...history.slice(0, 390), asked(500, "other")]
    bring(status("waiting", "5.1"), reset, stored(asked(1)))
    draw()
    expect(around.last.isClosed).toBe(true)
    expect(chat.store.getState().picture.messages).toBe(before.messages)
    expect(chat.store.getState().picture.status).toBe("waiting")
    await around.pass(0)
    const { picture } = chat.store.getState()
    expect(around.last.url).toBe("/api/experimental/chats/c/stream?after_id=500")
    expect(picture.messages.at(-1)?.id).toBe(500)
    expect(picture.messages[0]).toBe(before.messages[0])
    expect(picture.messages).toHaveLength(100 - 10 + 1)
  })

  it("is read anew when the server does not know the place", async () => {
    const chat = chats.open("c")
    await around.pass(0)
    around.answer = () => new Response("{}", { status: 400 })
    around.last.closed("")
    await around.pass(0)
    expect(pages).toHaveLength(2)
    expect(around.sockets).toHaveLength(2)
    expect(chat.store.getState().reading.state).toBe("read")
  })
})

describe("chats that were open", () => {
  it("show at once and go on from their last event", async () => {
    const chat = chats.open("c")
    await around.pass(0)
    around.last.opened()
    bring(stored(asked(5), "5.5"))
    chat.close()
    expect(around.last.isClosed).toBe(true)
    const again = chats.open("c")
    expect(again.store.getState().picture.messages.map((one) => one.id)).toEqual([1, 2, 3, 4, 5])
    expect(around.last.url).toBe("/api/experimental/chats/c/stream?after=5.5")
    expect(pages).toHaveLength(1)
  })

  it("are followed once, however many look, until the last one leaves", async () => {
    const [one, other] = [chats.open("c"), chats.open("c")]
    await around.pass(0)
    expect(around.sockets).toHaveLength(1)
    one.close()
    one.close()
    expect(around.last.isClosed).toBe(false)
    other.close()
    expect(around.last.isClosed).toBe(true)
  })

  it("are forgotten when eight others were open since, unless something is being sent there", async () => {
    const kept = chats.open("sends")
    await around.pass(0)
    kept.actions.send([{ type: "text", text: "hello" }])
    fails = Array.from({ length: 99 }, () => new Unreachable("gone"))
    await around.pass(0)
    fails = []
    kept.close()
    chats.open("first").close()
    for (let other = 0; other < 8; other++) chats.open(`other${other}`).close()
    await around.pass(0)
    expect(chats.open("sends").store).toBe(kept.store)
    const asked = pages.length
    chats.open("first")
    await around.pass(0)
    expect(pages.length).toBe(asked + 1)
  })

  it("are kept while a message of theirs was refused", async () => {
    const kept = chats.open("c")
    await around.pass(0)
    fails = [new Refused(400, { message: "no" })]
    kept.actions.send([{ type: "text", text: "hello" }])
    await around.pass(0)
    kept.close()
    for (let other = 0; other < 9; other++) chats.open(`other${other}`).close()
    expect(chats.open("c").store.getState().overlay.sends).toMatchObject([{ state: "failed" }])
  })
})
