/** Whatever comes in whichever order, cut wherever: in the end the page shows what the server has, and nothing twice. */
import fc from "fast-check"
import { expect, it } from "vitest"
import type { Part, StreamEvent } from "../api/events"
import { follow } from "../api/follow"
import { Refused, type request, Unreachable } from "../api/request"
import type { ChatMessagesPage, InputPart, SentMessage } from "../api/schema"
import { FakeSurroundings } from "../api/testing/fake_surroundings"
import { ChatActions } from "./actions"
import type { ChatSurroundings } from "./chat_state"
import { shownParts } from "./picture"
import type { Row } from "./row_kinds"
import { allRows, rows } from "./rows"
import { isWaiting, nothingSent, shownQueue } from "./sending"
import { LiveChat, pageSize } from "./store"
import { call, result, text } from "./testing/made"
import { unsentInMemory } from "./testing/unsent_in_memory"
import { SimulatedServer } from "./testing/simulated_server"
import { timeline, type TimelineRow } from "./timeline"
import type { Unsent } from "./unsent"

interface Asked {
  path?: { message?: number }
  query?: { limit: number; before_id?: number }
  body?: { content: Part[] }
  idempotencyKey?: string
}

const often = { say: 6, deliver: 9, draw: 6, answer: 3, ask: 3, call: 2, result: 2, step: 3, finish: 2, edit: 2, retry: 1, again: 1, fail: 1, drop: 2, older: 3, reopen: 1, send: 3, rewrite: 1, lose: 1, reload: 1 }

const step = fc.record({
  do: fc.oneof(...Object.entries(often).map(([name, weight]) => ({ weight, arbitrary: fc.constant(name) }))),
  times: fc.integer({ min: 1, max: 4 }),
})

/** Of the newest messages, so that most chats have more than one. */
const smallPage = 6

/** One chat, its server and all that lies between them. */
class World {
  readonly server = new SimulatedServer()
  readonly around = new FakeSurroundings()
  chat: LiveChat
  actions: ChatActions
  private page = { isOpen: true }
  private readonly unsentOnes = unsentInMemory()
  private words = 0
  private frames: (() => void)[] = []
  private answers: { give: () => unknown; lose: () => unknown }[] = []
  private readonly done = new Map<string, SentMessage>()
  private pending: StreamEvent[] = []
  private seen: ReturnType<SimulatedServer["begun"]> | null = null

  constructor(turns: number) {
    for (let turn = 0; turn < turns; turn++) {
      this.server.send([text(this.word())])
      this.server.write(text(this.word()))
      this.server.finish()
    }
    const around = this.browser()
    this.chat = new LiveChat("c", around)
    this.actions = new ChatActions("c", this.chat.store, around)
    this.chat.start()
  }

  /** As one page has it: what a page has asked for is never answered when it is gone. */
  private browser(): ChatSurroundings {
    const frame = (run: () => void) => {
      this.frames.push(run)
      return () => void (this.frames = this.frames.filter((one) => one !== run))
    }
    const { socket, fetch, after, random, now, on } = this.around
    const request = this.request(this.page)
    return { socket, fetch, after, random, now, on, request, follow, frame, newKey: () => this.word(), signedOut: () => {}, unsent: this.unsentOnes }
  }

  get unsent(): readonly Unsent[] {
    return this.unsentOnes.all()
  }

  /** Another page in the same browser. */
  private reload(): void {
    this.chat.stop()
    this.page.isOpen = false
    this.page = { isOpen: true }
    const around = this.browser()
    this.chat = new LiveChat("c", around)
    this.actions = new ChatActions("c", this.chat.store, around)
    for (const one of this.unsent) if (one.kind !== "chat") this.actions.resume(one)
    this.chat.start()
  }

  word(): string {
    this.words += 1
    return `w${this.words} `
  }

  /** Answers with what there was when it was asked, whenever that arrives, or never. */
  private request(page: { isOpen: boolean }): typeof request {
    const answer = (route: string, asked: Asked) => {
      if (!page.isOpen) return new Promise(() => {})
      const said = route.endsWith("/prompts") ? { prompts: this.prompts() } : this.said(asked)
      const give = (resolve: (answer: object) => void, reject: (error: Error) => void) => (said instanceof Error ? reject(said) : resolve(said))
      return new Promise((resolve, reject) => this.answers.push({ give: () => page.isOpen && give(resolve, reject), lose: () => page.isOpen && reject(new Unreachable("lost")) }))
    }
    return answer as typeof request
  }

  private said({ path, query, body, idempotencyKey = "" }: Asked): object {
    if (!body) return this.newest(query)
    if (path?.message === undefined) return this.sent(idempotencyKey, body.content)
    const message = this.server.replace(path.message, body.content)
    return message ? { message } : new Refused(404, { message: "There is no such message." })
  }

  private prompts(): { id: number; text: string }[] {
    const asked = this.server.messages.filter((message) => message.role === "user").toReversed()
    return asked.map(({ id, content }) => ({ id, text: content.map((part) => ("text" in part ? part.text : "")).join("") }))
  }

  /** Of a message that the page shows: it may be gone by the time that the server hears of it. */
  private rewrite(place: number): void {
    const prompts = this.chat.store.getState().picture.messages.filter((message) => message.role === "user")
    const chosen = prompts.at(-place)
    if (chosen) void this.actions.edit(chosen.id, [{ type: "text", text: this.word() }])
  }

  private newest({ limit, before_id }: NonNullable<Asked["query"]> = { limit: pageSize }): ChatMessagesPage {
    return this.server.page(limit === pageSize ? smallPage : limit, before_id)
  }

  private sent(key: string, content: Part[]): SentMessage {
    const known = this.done.get(key)
    const answer = known ?? { queued: false, ...this.server.send(content) }
    this.done.set(key, answer)
    return answer
  }

  async run(one: { do: string; times?: number }): Promise<void> {
    const { server } = this
    const times = one.times ?? 1
    if (one.do === "say") for (let time = 0; time < times; time++) server.write(text(this.word()))
    else if (one.do === "ask") server.send([text(this.word())])
    else if (one.do === "call") server.write(call(`c${this.word()}`))
    else if (one.do === "result") this.giveResult()
    else if (one.do === "step") server.step()
    else if (one.do === "finish") server.finish()
    else if (one.do === "fail") server.fail()
    else if (one.do === "retry") server.retryLater()
    else if (one.do === "again") server.tryAgain()
    else if (one.do === "edit") server.edit(times, [text(this.word())])
    else if (one.do === "deliver") this.deliver(times)
    else if (one.do === "draw") this.draw()
    else if (one.do === "drop") this.drop()
    else if (one.do === "older") void this.chat.loadOlder()
    else if (one.do === "reopen") this.reopen()
    else if (one.do === "reload") this.reload()
    else if (one.do === "send") this.actions.send([{ type: "text", text: this.word() }])
    else if (one.do === "rewrite") this.rewrite(times)
    else if (one.do === "answer") this.answers.splice(times % this.answers.length, 1)[0]?.give()
    else if (one.do === "lose") this.answers.splice(times % this.answers.length, 1)[0]?.lose()
    for (let turn = 0; turn < 8; turn++) await Promise.resolve()
  }

  /** Everything that is on its way arrives. */
  async calm(): Promise<void> {
    for (let round = 0; round < 300; round++) {
      await this.run({ do: "answer" })
      await this.run({ do: "deliver", times: 50 })
      await this.run({ do: "draw" })
      const { picture, reading, overlay } = this.chat.store.getState()
      this.around.happen("online") // for what was lost
      if (reading.state === "read" && picture.hasOlder) await this.run({ do: "older" })
      else if (isWaiting(overlay)) continue
      else if (this.answers.length + this.frames.length === 0 && round > 3 && reading.state === "read" && this.isQuiet()) return
    }
    throw new Error("it never comes to rest")
  }

  private isQuiet(): boolean {
    this.refill()
    return this.pending.length === 0
  }

  private giveResult(): void {
    const open = this.server.parts.find(({ piece }) => piece.type === "tool-call" && !this.server.parts.some((other) => other.piece.type === "tool-result" && other.piece.tool_call_id === piece.tool_call_id))
    if (open?.piece.type === "tool-call") this.server.write(result(open.piece.tool_call_id), "tool")
  }

  private get socket() {
    const socket = this.around.sockets.at(-1)
    return socket?.isClosed === false ? socket : undefined
  }

  private opened: object | null = null

  private refill(): void {
    const { socket } = this
    if (!socket) return
    if (this.opened !== socket) {
      this.opened = socket
      const query = new URL(socket.url, "http://x").searchParams
      this.seen = this.server.begun(query.get("after"), Number(query.get("after_id") ?? 0))
      this.pending = []
      socket.opened()
    }
    if (this.pending.length === 0 && this.seen) this.pending = this.server.news(this.seen)
  }

  private deliver(most: number): void {
    this.refill()
    const frame = this.pending.splice(0, most)
    if (frame.length > 0) this.socket?.message(JSON.stringify(frame))
  }

  private draw(): void {
    for (const run of this.frames.splice(0)) run()
  }

  private drop(): void {
    const { socket } = this
    if (!socket) return
    this.refill()
    socket.closed("")
    this.around.happen("online")
  }

  private reopen(): void {
    this.chat.stop()
    this.chat.start()
  }
}

const wordsOf = (parts: readonly (Part | InputPart)[]) => parts.flatMap((part) => (part.type === "text" ? (part.text?.trim().split(" ") ?? []) : []))

function wordsOfRow(row: TimelineRow): string[] {
  if (row.kind === "user") return wordsOf(row.message.content)
  if (row.kind === "send") return wordsOf(row.content)
  return row.kind === "text" ? row.text.trim().split(" ") : []
}

function expectNothingTwice(world: World): void {
  const { picture, overlay } = world.chat.store.getState()
  const shown = allRows(timeline(picture, overlay))
  const waiting = shownQueue(overlay, picture)
  expectUnique(shown.flatMap(wordsOfRow))
  expectUnique(waiting.flatMap(({ message, send }) => wordsOf(send?.content ?? message?.content ?? [])))
  expectUnique([...shown.flatMap(wordsOfRow), ...waiting.flatMap(({ send }) => wordsOf(send?.content ?? []))])
  expectUnique([...shown.map((row) => row.key), ...waiting.map((one) => one.key)])
}

/** A row that says the same is the same, and what is said keeps its key, also when a stored message takes over. */
class Continuity {
  private rows = new Map<string, Row>()
  private keys = new Map<string, string>()

  expect(world: World): void {
    const shown = allRows(rows(world.chat.store.getState().picture))
    for (const row of shown) {
      const before = this.rows.get(row.key)
      if (before && before !== row) expect(JSON.stringify(row)).not.toBe(JSON.stringify(before))
      for (const word of wordsOfRow(row)) expect(row.key).toBe(this.lasting(word) ?? row.key)
    }
    this.rows = new Map(shown.map((row) => [row.key, row]))
    this.keys = new Map(shown.flatMap((row) => wordsOfRow(row).map((word) => [word, row.key] as const)))
  }

  /** Where older messages are missing, the first key is only for now. */
  private lasting(word: string): string | undefined {
    const key = this.keys.get(word)
    return key?.startsWith("a-") ? undefined : key
  }
}

function expectUnique(all: readonly string[]): void {
  expect(all.filter((one, place) => all.indexOf(one) !== place)).toEqual([])
}

const runs = Number(process.env["CHATD_FUZZ_RUNS"] ?? 120)

it("ends with what the server has, and never shows a text twice", async () => {
  await fc.assert(
    fc.asyncProperty(fc.integer({ min: 0, max: 12 }), fc.boolean(), fc.array(step, { minLength: 20, maxLength: 80 }), async (turns, isRead, steps) => {
      const world = new World(turns)
      if (isRead) await world.calm()
      let continuity = new Continuity()
      for (const one of steps) {
        await world.run(one)
        if (one.do === "reload") continuity = new Continuity()
        expectNothingTwice(world)
        continuity.expect(world)
      }
      await world.calm()
      expectNothingTwice(world)
      const { picture } = world.chat.store.getState()
      const { server } = world
      expect(picture.messages).toEqual(server.messages)
      expect(picture.queue).toEqual(server.queue)
      expect(picture.status).toBe(server.status)
      const { overlay } = world.chat.store.getState()
      const refused = overlay.sends.filter((send) => send.state === "failed")
      expect({ ...overlay, sends: overlay.sends.filter((send) => !refused.includes(send)) }).toEqual(nothingSent)
      expect(world.unsent.map((one) => one.key)).toEqual(expect.arrayContaining(refused.map((send) => send.key)))
      expectUnique([...server.messages, ...refused].flatMap(({ content }) => wordsOf(content)))
      expect(picture.error?.message ?? null).toBe(server.error)
      expect(picture.retry?.attempt ?? null).toBe(server.retry?.attempt ?? null)
      expect(liveText(shownParts(picture))).toBe(liveText(server.parts.map((part) => part.piece)))
    }),
    { numRuns: runs },
  )
}, 1000 + runs * 100)

function liveText(parts: readonly object[]): string {
  return parts.map((part) => ("text" in part && typeof part.text === "string" ? part.text : "")).join("")
}
