import { readdirSync, readFileSync } from "node:fs"
import { join, resolve } from "node:path"
import { describe, expect, it, test } from "vitest"
import type { StreamEvent } from "../api/events"
import { apply, emptyPicture, fromPage, type Picture, shownParts, withOlder } from "./picture"
import { asked, call, output, page, part, picture, previewReset, result, said, status, stored, text, wire } from "./testing/made"

interface Fixture {
  name: string
  events: StreamEvent[]
  picture: unknown
}

const folder = resolve(import.meta.dirname, "../../../tests/core/stream_fixtures")
const fixtures = readdirSync(folder)
  .filter((name) => name.endsWith(".json"))
  .map((name): Fixture => JSON.parse(readFileSync(join(folder, name), "utf8")))

/** As `Picture.shown` of `core/stream_picture.py` gives it. */
function shown({ messages, queue, status, error, action, retry, parts }: Picture) {
  return { messages, queue, status, error, action, retry, parts }
}

describe.each(fixtures)("the fixture $name", ({ events, picture: expected }) => {
  it("leads to its picture, as one batch and event by event", () => {
    expect(shown(apply(emptyPicture, events))).toEqual(expected)
    expect(shown(events.reduce((now, event) => apply(now, [event]), emptyPicture))).toEqual(expected)
  })

  it("leads there however it is cut, and never changes a picture that was given away", () => {
    for (let cut = 1; cut < events.length; cut++) {
      const half = apply(emptyPicture, events.slice(0, cut))
      const before = structuredClone(half)
      expect(shown(apply(half, events.slice(cut)))).toEqual(expected)
      expect(half).toEqual(before)
    }
  })
})

test("fixtures were found", () => expect(fixtures.length).toBeGreaterThan(5))

describe("a picture", () => {
  it("is the same object when nothing comes, and when nothing has changed", () => {
    const before = apply(emptyPicture, [stored(asked(1)), status("running")])
    expect(apply(before, [])).toBe(before)
    expect(apply(before, [stored(asked(1), "m1"), status("running")]).messages).toBe(before.messages)
    expect(apply(before, [status("running")])).toBe(before)
  })

  it("counts the id of an event that it does not know, and leaves the rest alone", () => {
    const before = picture([asked(1)])
    const after = apply(before, [wire({ id: "later", type: "of_a_newer_server", chat_id: "x" })])
    expect(after).toEqual({ ...before, lastId: "later" })
    expect(after.messages).toBe(before.messages)
  })

  it("keeps a message that it has unless its revision is another", () => {
    const before = picture([asked(1), said(2)])
    const same = apply(before, [stored(said(2))])
    expect(same.messages).toBe(before.messages)
    const other = apply(before, [stored({ ...said(2, "other"), revision: 9 })])
    expect(other.messages[0]).toBe(before.messages[0])
    expect(other.messages[1]?.content).toEqual([text("other")])
  })

  it("has messages in the order of their ids, whichever way they came", () => {
    const after = withOlder(apply(picture([asked(5)]), [stored(said(6)), stored(asked(3))]), page([asked(1), said(2)], true))
    expect(after.messages.map((one) => one.id)).toEqual([1, 2, 3, 5, 6])
    expect(after.hasOlder).toBe(true)
    expect(withOlder(after, page([asked(1), said(2)], true))).toBe(after)
  })

  it("begins with a page, newest first as the server gives it, and keeps messages that were known", () => {
    const known = [asked(1), said(2)]
    const begun = fromPage(page([asked(1), said(2), asked(3)], true), known)
    expect(begun.messages.map((one) => one.id)).toEqual([1, 2, 3])
    expect(begun.messages[0]).toBe(known[0])
    expect(begun.hasOlder).toBe(true)
  })

  it("shows the old history until a new one has come whole", () => {
    const before = { ...picture([asked(1), said(2), asked(3)]), hasOlder: true }
    const half = apply(before, [wire({ id: "r", type: "history_reset", chat_id: "x" }), stored(asked(1))])
    expect(half.messages).toBe(before.messages)
    const whole = apply(half, [stored(asked(7, "other")), status("running")])
    expect(whole.messages.map((one) => one.id)).toEqual([1, 7])
    expect(whole.messages[0]).toBe(before.messages[0])
    expect(whole.hasOlder).toBe(false)
  })
})

describe("the answer that is being written", () => {
  const running = picture([asked(1)], "running")

  it("is hidden as soon as its message is stored, before the stream says so", () => {
    const writing = apply(running, [previewReset(), part(text("half"))])
    expect(shownParts(writing)).toHaveLength(1)
    const taken = apply(writing, [stored(said(2, "half of it"))])
    expect(shownParts(taken)).toEqual([])
    expect(taken.parts).toHaveLength(1)
  })

  it("is hidden when history is sent anew", () => {
    const writing = apply(running, [previewReset(), part(text("half"))])
    expect(shownParts(apply(writing, [wire({ id: "r", type: "history_reset", chat_id: "x" })]))).toEqual([])
  })

  it("keeps parts that a chunk does not touch", () => {
    const writing = apply(running, [previewReset(), part(text("one ")), part(call("c1")), part(text("two "))])
    const more = apply(writing, [part(text("three"))])
    expect(more.parts[0]).toBe(writing.parts[0])
    expect(more.parts[1]).toBe(writing.parts[1])
    expect(more.parts[2]).toMatchObject({ text: "two three" })
    expect(more.messages).toBe(writing.messages)
  })

  it("has what a running tool says, until its result", () => {
    const writing = apply(running, [previewReset(), part(call("c1")), output("c1", "a"), output("c1", "a\nb")])
    expect(writing.live.get("c1")).toBe("a\nb")
    expect(apply(writing, [output("c1", "a\nb")])).toBe(writing)
    const done = apply(writing, [part({ ...result("c1"), type: "tool-result", tool_call_id: "c1" }, "tool")])
    expect(done.live.size).toBe(0)
    expect(writing.live.size).toBe(1)
  })
})
