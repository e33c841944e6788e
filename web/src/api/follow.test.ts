import { beforeEach, describe, expect, it } from "vitest"
import type { StreamEvent } from "./events"
import { follow, type Followed, type Place } from "./follow"
import type { Connection } from "./lasting"
import { FakeSurroundings, settled } from "./testing/fake_surroundings"

let around: FakeSurroundings
let events: StreamEvent[]
let connections: Connection[]
let restarts: number
let followed: Followed

function begin(place: Place = {}): void {
  followed = follow(
    "c1",
    place,
    { onEvents: (came) => events.push(...came), onConnection: (now) => connections.push(now), onRestart: () => (restarts += 1) },
    around,
  )
}

beforeEach(() => {
  around = new FakeSurroundings()
  events = []
  connections = []
  restarts = 0
})

const state = () => connections.at(-1)
const said = (...ids: string[]) => JSON.stringify(ids.map((id) => ({ id, type: "status", chat_id: "c1", status: { status: "running" } })))

describe("following a chat", () => {
  it("gives what comes, as it came together", () => {
    begin({ afterId: 7 })
    expect(around.last.url).toBe("/api/experimental/chats/c1/stream?after_id=7")
    around.last.opened()
    around.last.message(said("1", "2"))
    expect(events.map((event) => event.id)).toEqual(["1", "2"])
    expect(state()).toEqual({ state: "open" })
  })

  it("comes back with the last id, later each time, and from the beginning after it was open", async () => {
    begin({ after: "0" })
    around.last.opened()
    around.last.message(said("1", "2"))
    around.last.message(JSON.stringify([{ type: "message_part", chat_id: "c1", message_part: { part: {} } }]))
    around.last.closed("")
    expect(state()).toEqual({ state: "waiting", attempt: 1, until: 1000 })
    await around.pass(1000)
    expect(around.last.url).toBe("/api/experimental/chats/c1/stream?after=2")
    around.last.closed("")
    await settled()
    expect(state()).toMatchObject({ state: "waiting", attempt: 2, until: 3000 })
    await around.pass(2000)
    around.last.opened()
    around.last.closed("The server is stopping. Connect again with the last id.")
    expect(state()).toMatchObject({ state: "waiting", attempt: 1, until: 4000 })
    expect(around.pending).toBe(1)
  })

  it("tries at once when the network or the reader is back", async () => {
    begin()
    around.last.opened()
    around.happen("offline")
    expect(around.last.isClosed).toBe(true)
    expect(state()).toMatchObject({ state: "waiting" })
    around.happen("online")
    expect(around.sockets).toHaveLength(2)
    around.last.opened()
    around.last.closed("")
    around.happen("shown")
    expect(around.sockets).toHaveLength(3)
    around.last.opened()
    expect(around.pending, "silence is all that is waited for").toBe(1)
  })

  it("takes long silence of a socket for a lost connection, whatever the browser thinks of it", async () => {
    begin()
    around.last.opened()
    for (let beats = 0; beats < 4; beats++) {
      await around.pass(25_000)
      around.last.message("[]")
    }
    expect(around.sockets).toHaveLength(1)
    around.last.message(said("1"))
    await around.pass(39_000)
    expect(state()).toEqual({ state: "open" })
    await around.pass(1_000)
    expect(around.sockets[0]?.isClosed).toBe(true)
    expect(state()).toMatchObject({ state: "waiting", attempt: 1 })
    await around.pass(1_000)
    expect(around.last.url).toBe("/api/experimental/chats/c1/stream?after=1")
    around.last.opened()
    expect(state()).toEqual({ state: "open" })
    followed.close()
    expect(around.pending).toBe(0)
  })

  it("does not wait for ever for a socket to open, nor to be told why it does not", async () => {
    around.fetch = (_, init) => new Promise((_, reject) => init.signal?.addEventListener("abort", () => reject(new Error("aborted"))))
    begin()
    await around.pass(80_000)
    expect(around.sockets[0]?.isClosed).toBe(true)
    expect(state()).toMatchObject({ state: "waiting", attempt: 1 })
    await around.pass(1_000)
    expect(around.sockets).toHaveLength(2)
  })

  it("does not trust a socket that has said nothing while the machine slept", async () => {
    begin()
    around.last.opened()
    await around.pass(20_000)
    around.last.message("[]")
    await around.pass(20_000)
    around.happen("shown")
    expect(around.sockets).toHaveLength(1)
    around.sleep(60_000)
    around.happen("shown")
    expect(around.sockets).toHaveLength(2)
    expect(around.sockets[0]?.isClosed).toBe(true)
  })

  it("rests when the session has ended, and goes on from where it was when someone has signed in", async () => {
    begin()
    around.last.opened()
    around.last.message(JSON.stringify([{ id: "1.2", type: "queue_update", chat_id: "c1" }]))
    around.last.closed("The session has ended. Sign in again.")
    expect(state()).toEqual({ state: "ended", why: "signed-out" })
    await around.pass(60_000)
    around.happen("online")
    around.happen("shown")
    expect(around.sockets).toHaveLength(1)
    around.happen("signed-in")
    expect(around.sockets).toHaveLength(2)
    expect(around.last.url).toBe("/api/experimental/chats/c1/stream?after=1.2")
    around.last.opened()
    expect(state()).toEqual({ state: "open" })
  })

  it("asks anew when someone signs in while it is being told that the session has ended", async () => {
    begin()
    around.happen("signed-in")
    expect(around.sockets).toHaveLength(2)
    expect(around.sockets[0]?.isClosed).toBe(true)
    around.last.opened()
    around.happen("signed-in")
    expect(around.sockets).toHaveLength(2)
  })

  it.each([
    [401, "signed-out", true],
    [404, "gone", false],
  ])("asks which it is when the server says that it may be either: %i", async (status, why, comesBack) => {
    begin()
    around.last.opened()
    around.last.closed("You may not see this chat any more, or the session has ended. Sign in again.")
    around.answer = () => new Response("{}", { status })
    await around.pass(2000)
    around.last.closed("")
    await settled()
    expect(state()).toEqual({ state: "ended", why })
    around.happen("signed-in")
    expect(around.sockets).toHaveLength(comesBack ? 3 : 2)
    expect(around.listening === 0).toBe(!comesBack)
  })

  it.each([
    [401, "signed-out"],
    [404, "gone"],
  ])("ends when it is refused with %i", async (status, why) => {
    around.answer = () => new Response("{}", { status })
    begin()
    around.last.closed("")
    await settled()
    expect(state()).toEqual({ state: "ended", why })
  })

  it("begins anew when its place is not known, and does not insist", async () => {
    around.answer = () => new Response("{}", { status: 400 })
    begin({ after: "of another server" })
    around.last.closed("")
    await settled()
    expect(restarts).toBe(1)
    expect(around.last.url).toBe("/api/experimental/chats/c1/stream")
    around.last.closed("")
    await settled()
    expect(restarts).toBe(1)
    expect(state()).toMatchObject({ state: "waiting" })
  })

  it("waits as long as the server asks", async () => {
    around.answer = () => new Response("{}", { status: 503, headers: { "retry-after": "7" } })
    begin()
    around.last.closed("")
    await settled()
    expect(state()).toMatchObject({ state: "waiting", until: 7000 })
  })

  it("takes server-sent events when no socket ever opens while HTTP works", async () => {
    const stream = () => {
      const said = 'retry: 1000\n\nid: 1\ndata: {"id":"1","type":"queue_update","chat_id":"c1"}\n\n: still here\n\nid: 2\ndata: {"id":"2","type":"stat'
      const rest = 'us","chat_id":"c1","status":{"status":"waiting"}}\n\n: The session has ended. Sign in again.\n\n'
      return new Blob([said, rest]).stream()
    }
    around.answer = () => new Response(stream(), { headers: { "content-type": "text/event-stream" } })
    begin()
    around.last.closed("")
    await around.pass(1000)
    expect(around.sockets).toHaveLength(2)
    around.last.closed("")
    await settled()
    await settled()
    expect(around.sockets).toHaveLength(2)
    expect(events.map((event) => event.id)).toEqual(["1", "2"])
    expect(connections.filter((one) => one.state === "open")).toHaveLength(1)
    expect(state()).toEqual({ state: "ended", why: "signed-out" })
  })

  it("takes long silence of server-sent events for a lost connection", async () => {
    around.answer = () => new Response(new ReadableStream({ start: (stream) => stream.enqueue(new TextEncoder().encode(": still here\n\n")) }))
    begin()
    around.last.closed("")
    await around.pass(1000)
    around.last.closed("")
    await around.pass(10)
    expect(state()).toEqual({ state: "open" })
    const asked = around.fetched.length
    await around.pass(39_000)
    expect(state()).toEqual({ state: "open" })
    await around.pass(3_000)
    expect(around.fetched.length).toBe(asked + 1)
    followed.close()
    await around.pass(0)
    expect(around.pending).toBe(0)
  })

  it("trusts server-sent events that have given a sign of life", async () => {
    let say: (said: string) => void = () => {}
    const stream = () => new ReadableStream({ start: (to) => void (say = (said) => to.enqueue(new TextEncoder().encode(said))) })
    around.answer = () => new Response(stream())
    begin()
    around.last.closed("")
    await around.pass(1000)
    around.last.closed("")
    await around.pass(10)
    const asked = around.fetched.length
    await around.pass(25_000)
    say(": still here\n\n")
    await around.pass(20_000)
    around.happen("shown")
    expect(around.fetched.length).toBe(asked)
    around.sleep(60_000)
    around.happen("shown")
    await around.pass(0)
    expect(around.fetched.length).toBe(asked + 1)
    followed.close()
  })

  it("stays with sockets when the network was down, or when one has opened before", async () => {
    begin()
    for (let times = 0; times < 4; times++) {
      around.last.closed("")
      await around.pass(40_000)
    }
    expect(around.sockets).toHaveLength(5)
    around.last.opened()
    around.answer = () => new Response("")
    for (let times = 0; times < 4; times++) {
      around.last.closed("")
      await around.pass(40_000)
    }
    expect(around.sockets).toHaveLength(9)
  })

  it("does nothing after it was closed", async () => {
    begin()
    around.last.opened()
    followed.close()
    const told = connections.length
    expect(around.last.isClosed).toBe(true)
    around.happen("online")
    await around.pass(60_000)
    expect([around.sockets.length, connections.length, around.pending, around.listening]).toEqual([1, told, 0, 0])
  })

  it("connects again when it can't read what came", () => {
    begin()
    around.last.opened()
    around.last.message("{")
    expect(around.last.isClosed).toBe(true)
    expect(state()).toMatchObject({ state: "waiting" })
  })
})
