import { expect, it } from "vitest"
import { FakeSurroundings } from "./testing/fake_surroundings"
import { watch } from "./watch"

it("gives single events, and says when the list is to be read", async () => {
  const around = new FakeSurroundings()
  const kinds: string[] = []
  let gaps = 0
  const stop = watch({ onEvent: (event) => kinds.push(event.kind), onGap: () => (gaps += 1) }, around)
  expect(around.last.url).toBe("/api/experimental/chats/watch")
  around.last.opened()
  around.last.message(JSON.stringify({ kind: "created", chat: { id: "a" } }))
  expect(kinds).toEqual(["created"])
  expect(gaps).toBe(1)
  around.last.closed("Changes may be missing. Read the list again, and connect anew.")
  await around.pass(1000)
  expect(gaps).toBe(1)
  around.last.opened()
  expect(gaps).toBe(2)
  stop()
  expect(around.last.isClosed).toBe(true)
})
