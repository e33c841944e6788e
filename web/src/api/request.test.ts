import { afterEach, expect, it, vi } from "vitest"
import { fetched, request, Unreachable } from "./request"
import { tellSignedIn } from "./session"
import { serverNow } from "./server_clock"

afterEach(() => void vi.unstubAllGlobals())

function answers(body: BodyInit | null, init: ResponseInit): void {
  vi.stubGlobal("fetch", async () => new Response(body, init))
}

const json = { "content-type": "application/json" }
const ask = () => request("GET /api/v2/users/first")

/** A connection that is lost after the first bytes of an answer. */
function cut(): ReadableStream {
  return new ReadableStream({
    start: (stream) => stream.enqueue(new TextEncoder().encode('{"exi')),
    pull: (stream) => stream.error(new TypeError("network error")),
  })
}

it("has no answer when only a piece of it came: it may have been done", async () => {
  answers(cut(), { headers: json })
  await expect(ask()).rejects.toBeInstanceOf(Unreachable)
})

it("has no answer when something in between gives a page", async () => {
  answers("<h1>Accept our terms</h1>", { headers: { "content-type": "text/html; charset=utf-8" } })
  await expect(ask()).rejects.toBeInstanceOf(Unreachable)
})

it("is refused also when the reason did not come", async () => {
  answers(cut(), { status: 409, headers: json })
  await expect(ask()).rejects.toMatchObject({ status: 409, problem: { message: "The server answered 409." } })
})

it("is asked again when the session in which it was refused is over by the time it hears of it", async () => {
  const page = new EventTarget()
  vi.stubGlobal("window", page)
  let told = 0
  page.addEventListener("chatd:signed-out", () => (told += 1))
  const asked: ((response: Response) => void)[] = []
  vi.stubGlobal("fetch", () => new Promise<Response>((answer) => asked.push(answer)))
  const out = () => new Response("{}", { status: 401, headers: json })
  const answer = ask()
  tellSignedIn()
  asked[0]?.(out())
  await vi.waitFor(() => expect(asked).toHaveLength(2))
  expect(told).toBe(0)
  asked[1]?.(out())
  await expect(answer).rejects.toMatchObject({ status: 401 })
  expect(told).toBe(1)
})

it("reads the time from answers, not from files that a browser has kept since long ago", async () => {
  const off = () => Math.abs(serverNow() - Date.now())
  const dated = (at: number) => ({ headers: { ...json, date: new Date(at).toUTCString() } })
  answers("{}", dated(Date.now()))
  await ask()
  answers("{}", dated(Date.now() - 7 * 24 * 3600 * 1000))
  await fetched("/api/experimental/chats/files/1", {})
  expect(off()).toBeLessThan(2000)
})
