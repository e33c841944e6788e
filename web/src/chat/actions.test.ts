import { beforeEach, describe, expect, it } from "vitest"
import { follow } from "../api/follow"
import { Refused, type request, Unreachable } from "../api/request"
import { FakeSurroundings } from "../api/testing/fake_surroundings"
import { ChatActions } from "./actions"
import { Beginnings } from "./beginnings"
import { type ChatStore, type ChatSurroundings, chatStore, setPicture } from "./chat_state"
import { apply } from "./picture"
import { allRows } from "./rows"
import { shownQueue } from "./sending"
import { asked, chatId, picture, said, status, stored, text, wire } from "./testing/made"
import { unsentInMemory } from "./testing/unsent_in_memory"
import { timeline } from "./timeline"

interface Asking {
  route: string
  asked: { path?: object; body?: Record<string, unknown>; idempotencyKey?: string }
  give(answer: unknown): void
  fail(error: Error): void
}

let around: FakeSurroundings & ChatSurroundings
let asking: Asking[]
let store: ChatStore
let actions: ChatActions

beforeEach(() => {
  asking = []
  let keys = 0
  const answer = (route: string, given: Asking["asked"]) => new Promise((give, fail) => asking.push({ route, asked: given, give, fail }))
  around = Object.assign(new FakeSurroundings(), {
    request: answer as typeof request,
    follow,
    frame: () => () => {},
    newKey: () => `key${++keys}`,
    signedOut: () => {},
    unsent: unsentInMemory(),
  })
  store = chatStore()
  setPicture(store, picture([asked(1), said(2), asked(3), said(4)]))
  actions = new ChatActions(chatId, store, around)
})

const words = (of: string) => [{ type: "text" as const, text: of }]
const overlay = () => store.getState().overlay
const come = (...events: ReturnType<typeof stored>[]) => setPicture(store, apply(store.getState().picture, events))
const keys = () => allRows(timeline(store.getState().picture, overlay())).map((row) => row.key)
const waiting = () => shownQueue(overlay(), store.getState().picture)
const refusal = (code: number) => new Refused(code, { message: `no ${code}` })
const queued = (id: number) => ({ id, chat_id: chatId, content: [text(`waits ${id}`)], created_at: "" })
const queueIs = (...ids: number[]) => come(wire({ id: `q${ids}`, type: "queue_update", chat_id: chatId, queued_messages: ids.map(queued) }))

/** Another page on the same browser: what the first one asked is never answered. */
function reload(): void {
  const { picture: known } = store.getState()
  store = chatStore()
  actions = new ChatActions(chatId, store, around)
  for (const one of around.unsent.all()) if (one.kind !== "chat") actions.resume(one)
  setPicture(store, known)
}

async function last(): Promise<Asking> {
  await around.pass(0)
  const one = asking.at(-1)
  if (!one) throw new Error("nothing was asked")
  return one
}

describe("a message that is sent", () => {
  it("shows at once, then as stored, then as what the stream brings", async () => {
    actions.send(words("hello"), { modelConfigId: "m", planMode: "plan", interrupt: true })
    expect(keys().at(-1)).toBe("skey1")
    const { asked: body, give } = await last()
    expect(body).toMatchObject({ idempotencyKey: "key1", body: { content: words("hello"), model_config_id: "m", plan_mode: "plan", busy_behavior: "interrupt" } })
    give({ queued: false, message: asked(5, "hello") })
    await around.pass(0)
    expect(keys().at(-1)).toBe("m5")
    expect(overlay().sends).toMatchObject([{ state: "sent" }])
    come(stored(asked(5, "hello")))
    expect(overlay().sends).toEqual([])
    expect(keys().filter((key) => key === "m5")).toHaveLength(1)
  })

  it("shows once when the stream is faster than the answer", async () => {
    actions.send(words("hello"))
    const { give } = await last()
    come(stored(asked(5, "hello")), status("running"))
    expect(keys().filter((key) => key === "m5" || key.startsWith("s"))).toEqual(["m5"])
    give({ queued: false, message: asked(5, "hello") })
    await around.pass(0)
    expect(overlay().sends).toEqual([])
  })

  it("is tried again with the same key until there is an answer", async () => {
    actions.send(words("hello"))
    ;(await last()).fail(new Unreachable("gone"))
    await around.pass(100)
    expect(overlay().sends).toMatchObject([{ state: "unanswered" }])
    await around.pass(1000)
    expect(asking.map((one) => one.asked.idempotencyKey)).toEqual(["key1", "key1"])
    asking[1]?.fail(refusal(503))
    await around.pass(0)
    around.happen("online")
    await around.pass(0)
    expect(asking).toHaveLength(3)
  })

  it("stays with the reason when it is refused, also over a reload, until something is done about it", async () => {
    const key = actions.send(words("hello"), { modelConfigId: "m" })
    come(status("running"))
    ;(await last()).fail(refusal(409))
    await around.pass(0)
    expect(overlay().sends).toMatchObject([{ state: "failed", content: words("hello"), problem: { message: "no 409" } }])
    expect(keys().at(-1)).toBe(`s${key}`)
    expect(waiting()).toEqual([])
    reload()
    expect(overlay().sends).toMatchObject([{ key, state: "failed", content: words("hello"), problem: { message: "no 409" } }])
    await around.pass(60_000)
    expect(asking).toHaveLength(1)
    actions.tryAgain(key)
    expect((await last()).asked).toMatchObject({ idempotencyKey: "key1", body: { content: words("hello"), model_config_id: "m" } })
    expect(overlay().sends).toMatchObject([{ key: "key1", state: "sending" }])
    ;(await last()).fail(refusal(409))
    await around.pass(0)
    actions.forgetSend("key1")
    expect(overlay().sends).toEqual([])
    reload()
    expect(overlay().sends).toEqual([])
  })

  it("to a chat that is gone waits where chats begin", async () => {
    const key = actions.send(words("hello"), { modelConfigId: "m", planMode: "plan", interrupt: true })
    ;(await last()).fail(refusal(404))
    await around.pass(0)
    expect(overlay().sends).toMatchObject([{ key, state: "failed", content: words("hello"), problem: { message: "no 404" } }])
    const body = { content: words("hello"), client_type: "ui", model_config_id: "m", plan_mode: "plan" }
    expect(around.unsent.all()).toMatchObject([{ kind: "chat", key, body, problem: { message: "Its chat is not there any more." } }])
    const beginnings = new Beginnings(around)
    beginnings.resume()
    expect(beginnings.store.getState()).toMatchObject([{ key, state: "failed", body }])
    beginnings.tryAgain(key)
    expect((await last()).route).toBe("POST /api/experimental/chats")
  })

  it("and was refused goes when something was done about it in another tab", async () => {
    const refused = actions.send(words("hello"))
    ;(await last()).fail(refusal(409))
    await around.pass(0)
    const sending = actions.send(words("more"))
    actions.forgotten(refused)
    actions.forgotten(sending)
    expect(overlay().sends).toMatchObject([{ key: sending, state: "sending" }])
  })

  it("goes out again after a reload, under its key and in its order, and says so", async () => {
    actions.send(words("one"), { planMode: "plan" })
    actions.send(words("two"))
    await last()
    reload()
    expect(overlay().sends).toMatchObject([
      { key: "key1", state: "unanswered" },
      { key: "key2", state: "unanswered" },
    ])
    const again = await last()
    expect(asking).toHaveLength(2)
    expect(again.asked).toMatchObject({ idempotencyKey: "key1", body: { content: words("one"), plan_mode: "plan" } })
    again.give({ queued: false, message: asked(5, "one") })
    await around.pass(0)
    ;(await last()).give({ queued: false, message: asked(6, "two") })
    await around.pass(0)
    come(stored(asked(5, "one")), stored(asked(6, "two")))
    expect(overlay().sends).toEqual([])
    reload()
    expect(overlay().sends).toEqual([])
  })

  it("is not taken for an older one that says the same after a reload", async () => {
    setPicture(store, picture([asked(1, "yes"), said(2)]))
    actions.send(words("yes"))
    await last()
    reload()
    expect(keys().at(-1)).toBe("skey1")
  })

  it("does not go out again when the server may have forgotten its key", async () => {
    actions.send(words("hello"))
    await last()
    await around.pass(26 * 24 * 3600 * 1000)
    reload()
    expect(overlay().sends).toMatchObject([{ state: "failed" }])
    expect(asking).toHaveLength(1)
  })

  it("waits for someone to sign in", async () => {
    actions.send(words("hello"))
    ;(await last()).fail(refusal(401))
    await around.pass(60_000)
    around.happen("online")
    await around.pass(0)
    expect(asking).toHaveLength(1)
    expect(overlay().sends).toMatchObject([{ state: "unanswered" }])
    around.happen("signed-in")
    expect((await last()).asked.idempotencyKey).toBe("key1")
    expect(asking).toHaveLength(2)
  })

  it("goes after those that were written before it", async () => {
    actions.send(words("one"))
    actions.send(words("two"))
    const first = await last()
    expect(asking).toHaveLength(1)
    first.give({ queued: false, message: asked(5, "one") })
    await around.pass(0)
    expect(asking.map((one) => one.asked.idempotencyKey)).toEqual(["key1", "key2"])
  })

  it("can be given up, and lets the next one go", async () => {
    const key = actions.send(words("one"))
    actions.send(words("two"))
    ;(await last()).fail(new Unreachable("gone"))
    await around.pass(0)
    actions.forgetSend(key)
    await around.pass(0)
    expect(overlay().sends.map((send) => send.key)).toEqual(["key2"])
    expect(asking.at(-1)?.asked.idempotencyKey).toBe("key2")
  })

  it("waits in the queue of a chat at work", async () => {
    come(status("running"))
    actions.send(words("later"))
    expect(waiting()).toMatchObject([{ key: "skey1", send: { state: "sending" } }])
    ;(await last()).give({ queued: true, queued_message: { ...queued(9), content: [text("later")] } })
    await around.pass(0)
    expect(waiting()).toMatchObject([{ key: "q9" }])
    queueIs(9)
    expect(waiting()).toMatchObject([{ key: "q9", send: null }])
    expect(overlay().sends).toEqual([])
  })
})

describe("an edit", () => {
  it("takes the place of its message and of what follows, until the stream has it", async () => {
    void actions.edit(3, words("better"))
    expect(keys()).toEqual(["m1", "a1.0", "e1", "edit3"])
    ;(await last()).give({ message: asked(5, "better"), deleted_message_ids: [3, 4] })
    await around.pass(0)
    expect(keys()).toEqual(["m1", "a1.0", "e1", "m5"])
    come(wire({ id: "r", type: "history_reset", chat_id: chatId }), stored(asked(1)), stored(said(2)), stored(asked(5, "better")), status("running"))
    expect(overlay().edit).toBe(null)
    expect(keys()).toEqual(["m1", "a1.0", "e1", "m5"])
  })

  it("gives the message its place back when it is refused, and stays as a row of its own", async () => {
    void actions.edit(3, words("better"))
    ;(await last()).fail(refusal(400))
    await around.pass(0)
    expect(keys()).toContain("m3")
    expect(overlay().edit).toBe(null)
    expect(keys().at(-1)).toBe("skey1")
    expect(overlay().sends).toMatchObject([{ state: "failed", replaces: 3, content: words("better"), problem: { message: "no 400" } }])
    reload()
    expect(overlay().sends).toMatchObject([{ state: "failed", replaces: 3 }])
    actions.tryAgain("key1")
    expect((await last()).asked).toMatchObject({ path: { message: 3 }, body: { content: words("better") } })
    expect(overlay()).toMatchObject({ sends: [], edit: { messageId: 3, state: "sending" } })
  })

  it("goes before what was written after it, which it would hide", async () => {
    void actions.edit(3, words("better"))
    actions.send(words("and then"))
    ;(await last()).fail(new Unreachable("gone"))
    await around.pass(0)
    around.happen("online")
    ;(await last()).give({ prompts: [{ id: 3, text: "hello" }] })
    await around.pass(0)
    expect(asking.map((one) => one.route.split(" ")[0])).toEqual(["PATCH", "GET", "PATCH"])
    ;(await last()).give({ message: asked(5, "better"), deleted_message_ids: [3, 4] })
    await around.pass(0)
    expect((await last()).asked).toMatchObject({ body: { content: words("and then") } })
  })

  it("goes on after a reload, and was done when its message is gone", async () => {
    void actions.edit(3, words("better"))
    await last()
    reload()
    expect(overlay().edit).toMatchObject({ messageId: 3, state: "unanswered", content: words("better") })
    ;(await last()).give({ prompts: [{ id: 5, text: "better" }] })
    ;(await last()).fail(refusal(404))
    ;(await last()).give({ messages: [asked(5, "better")], queued_messages: [], has_more: true })
    await around.pass(0)
    expect(overlay().edit).toBe(null)
    reload()
    expect(overlay()).toMatchObject({ sends: [], edit: null })
  })

  it("was done by a try without an answer when its message is gone", async () => {
    void actions.edit(3, words("better"))
    ;(await last()).fail(new Unreachable("gone"))
    await around.pass(2000)
    expect(overlay().edit).toMatchObject({ state: "unanswered" })
    asking[1]?.give({ prompts: [{ id: 5, text: "better" }] })
    ;(await last()).fail(refusal(404))
    ;(await last()).give({ messages: [asked(5, "better")], queued_messages: [], has_more: true })
    await around.pass(0)
    expect(overlay()).toMatchObject({ edit: null, sends: [] })
  })

  it("that comes late does not replace what was said elsewhere meanwhile, unless its writer says so", async () => {
    void actions.edit(3, words("better"))
    await last()
    reload()
    ;(await last()).give({ prompts: [{ id: 7, text: "a day of work" }, { id: 3, text: "hello" }] })
    await around.pass(0)
    expect(asking.map((one) => one.route.split(" ")[0])).toEqual(["PATCH", "GET"])
    expect(overlay()).toMatchObject({ edit: null, sends: [{ state: "failed", replaces: 3, content: words("better") }] })
    actions.tryAgain("key1")
    expect((await last()).route).toContain("PATCH")
  })

  it("with comments on lines is known again, whatever spaces were around them", async () => {
    const lines = { type: "file-reference" as const, file_name: "a.py", start_line: 1, end_line: 1, content: "x" }
    void actions.edit(3, [lines, ...words("Why? "), ...words(" In short.\n")])
    ;(await last()).fail(new Unreachable("gone"))
    await around.pass(2000)
    asking[1]?.give({ prompts: [{ id: 5, text: "Why?In short." }] })
    expect((await last()).route).toContain("PATCH")
    expect(overlay().sends).toEqual([])
  })

  it("was not done when its message is gone and its words are nowhere", async () => {
    void actions.edit(3, words("better"))
    ;(await last()).fail(new Unreachable("gone"))
    await around.pass(2000)
    asking[1]?.give({ prompts: [{ id: 1, text: "hello" }] })
    ;(await last()).fail(refusal(404))
    ;(await last()).give({ messages: [asked(5, "of someone else")], queued_messages: [], has_more: true })
    await around.pass(0)
    expect(overlay()).toMatchObject({ edit: null, sends: [{ state: "failed", replaces: 3, content: words("better") }] })
  })
})

describe("a stop", () => {
  it("is under way until the chat has another status", async () => {
    come(status("running"))
    const done = actions.interrupt()
    expect(overlay().isStopping).toBe(true)
    ;(await last()).give({})
    await done
    expect(overlay().isStopping).toBe(true)
    come(status("interrupting"))
    expect(overlay().isStopping).toBe(false)
  })

  it("that comes too late is no failure", async () => {
    come(status("running"))
    const done = actions.interrupt()
    ;(await last()).fail(refusal(409))
    await done
    expect(overlay().isStopping).toBe(false)
  })
})

describe("the queue", () => {
  beforeEach(() => {
    come(status("running"))
    queueIs(7, 8, 9)
  })

  it("hides what is deleted or sent, and has it back when that is refused", async () => {
    const done = actions.deleteQueued(8)
    expect(waiting().map((one) => one.key)).toEqual(["q7", "q9"])
    ;(await last()).give(null)
    await done
    expect(waiting().map((one) => one.key)).toEqual(["q7", "q9"])
    queueIs(7, 9)
    expect(overlay().queue.size).toBe(0)
    const refused = actions.promote(7)
    expect(waiting().map((one) => one.key)).toEqual(["q9"])
    ;(await last()).fail(refusal(409))
    await expect(refused).rejects.toThrow("no 409")
    expect(waiting().map((one) => one.key)).toEqual(["q7", "q9"])
  })

  it("takes it as done when what is deleted is gone", async () => {
    const done = actions.deleteQueued(8)
    ;(await last()).fail(refusal(404))
    await expect(done).resolves.toBeUndefined()
  })

  it("is in the order that was asked for", async () => {
    const done = actions.reorder([9, 7, 8])
    expect(waiting().map((one) => one.key)).toEqual(["q9", "q7", "q8"])
    ;(await last()).give(null)
    await done
    queueIs(9, 7, 8)
    expect(overlay().order).toBe(null)
    const refused = actions.reorder([7, 8, 9])
    ;(await last()).fail(refusal(409))
    await expect(refused).rejects.toThrow()
    expect(waiting().map((one) => one.key)).toEqual(["q9", "q7", "q8"])
  })

  it("says what is being held and released", async () => {
    const held = actions.hold(7)
    expect(waiting()[0]).toMatchObject({ operation: "holding" })
    ;(await last()).give(queued(7))
    expect(await held).toMatchObject({ id: 7 })
    queueIs(7, 8, 9)
    expect(waiting()[0]).toMatchObject({ operation: null })
    const released = actions.release(7, words("other"))
    expect((await last()).asked.body).toEqual({ content: words("other") })
    expect(waiting()[0]).toMatchObject({ operation: "releasing" })
    ;(await last()).give({ queued: true })
    await released
  })
})

it("forks with a key, a few times", async () => {
  const forked = actions.fork(3, "Another way").catch((error: Error) => error.message)
  for (let time = 0; time < 4; time++) {
    ;(await last()).fail(new Unreachable("gone"))
    await around.pass(40_000)
  }
  expect(asking.map((one) => one.asked.idempotencyKey)).toEqual(["key1", "key1", "key1", "key1"])
  expect(asking[0]?.asked.body).toEqual({ message_id: 3, title: "Another way" })
  expect(await forked).toBe("gone")
})
