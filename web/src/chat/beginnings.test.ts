import { beforeEach, expect, it } from "vitest"
import { follow } from "../api/follow"
import { Refused, type request, Unreachable } from "../api/request"
import type { Chat } from "../api/schema"
import { FakeSurroundings } from "../api/testing/fake_surroundings"
import { Beginnings } from "./beginnings"
import type { ChatSurroundings } from "./chat_state"
import { unsentInMemory } from "./testing/unsent_in_memory"

let around: FakeSurroundings & ChatSurroundings
let asking: { key: string | undefined; body: unknown; give(answer: unknown): void; fail(error: Error): void }[]
let beginnings: Beginnings
let begun: string[]

/** Another page on the same browser. */
function load(): void {
  beginnings = new Beginnings(around)
  begun = []
  beginnings.onBegun((chat) => begun.push(chat.id))
  beginnings.resume()
}

beforeEach(() => {
  asking = []
  let keys = 0
  const answer = (_: string, { idempotencyKey, body }: { idempotencyKey?: string; body: unknown }) =>
    new Promise((give, fail) => asking.push({ key: idempotencyKey, body, give, fail }))
  around = Object.assign(new FakeSurroundings(), {
    request: answer as typeof request,
    follow,
    frame: () => () => {},
    newKey: () => `key${++keys}`,
    signedOut: () => {},
    unsent: unsentInMemory(),
  })
  load()
})

const body = { content: [{ type: "text" as const, text: "hello" }] }
const chat = { id: "c1" } as Chat

it("makes one chat, however often it has to be asked for", async () => {
  beginnings.begin(body)
  asking[0]?.fail(new Unreachable("gone"))
  await around.pass(2000)
  expect(beginnings.store.getState()).toMatchObject([{ state: "unanswered" }])
  load()
  expect(beginnings.store.getState()).toMatchObject([{ key: "key1", body, state: "unanswered" }])
  await around.pass(0)
  expect(asking.map((one) => one.key)).toEqual(["key1", "key1", "key1"])
  asking.at(-1)?.give(chat)
  await around.pass(0)
  expect(begun).toEqual(["c1"])
  expect(beginnings.store.getState()).toEqual([])
  load()
  expect(beginnings.store.getState()).toEqual([])
})

it("lets go of what was refused when something was done about it in another tab", async () => {
  beginnings.begin(body)
  asking[0]?.fail(new Refused(400, { message: "no model" }))
  await around.pass(0)
  beginnings.begin(body)
  beginnings.forgotten("key1")
  beginnings.forgotten("key2")
  expect(beginnings.store.getState()).toMatchObject([{ key: "key2", state: "sending" }])
})

it("shows what was refused elsewhere, and leaves what is on its way to the tab that sends it", async () => {
  const here = beginnings
  load()
  const [refused, other] = ["refused", "other"].map((text) => ({ content: [{ type: "text" as const, text }] }))
  if (!refused || !other) throw new Error("there are two")
  beginnings.begin(refused)
  asking[0]?.fail(new Refused(400, { message: "no model" }))
  await around.pass(0)
  beginnings.begin(other)
  here.showRefused()
  expect(here.store.getState()).toMatchObject([{ key: "key1", state: "failed", problem: { message: "no model" } }])
  expect(asking).toHaveLength(2)
  here.resume()
  expect(here.store.getState()).toMatchObject([{ key: "key1" }, { key: "key2", state: "unanswered" }])
})

it("keeps what was refused, with the reason, until something is done about it", async () => {
  beginnings.begin(body)
  asking[0]?.fail(new Refused(400, { message: "no model" }))
  await around.pass(0)
  load()
  expect(beginnings.store.getState()).toMatchObject([{ state: "failed", problem: { message: "no model" }, body }])
  expect(asking).toHaveLength(1)
  beginnings.tryAgain("key1")
  expect(asking[1]).toMatchObject({ key: "key1", body })
  asking[1]?.fail(new Refused(400, { message: "no model" }))
  await around.pass(0)
  beginnings.forget("key1")
  load()
  expect(beginnings.store.getState()).toEqual([])
})
