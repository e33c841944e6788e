import { readdirSync, readFileSync } from "node:fs"
import { join, resolve } from "node:path"
import { describe, expect, it } from "vitest"
import type { StreamEvent } from "../api/events"
import type { ChatMessage } from "../api/schema"
import { summaryTool, tellsInterruption } from "./calls"
import { apply, fromPage, type Picture, withOlder } from "./picture"
import { allRows, countRows, rowAt, rows } from "./rows"
import type { Row, StepsRow } from "./row_kinds"
import { asked, call, message, output, page, part, picture, previewReset, result, said, stored, text, thought, wire } from "./testing/made"

const kinds = (of: Picture) => allRows(rows(of)).map((row) => row.kind)
const keys = (of: Picture) => allRows(rows(of)).map((row) => row.key)
const after = (before: Picture, ...events: StreamEvent[]) => apply(before, events)

function stepsIn(of: Picture): StepsRow {
  const row = allRows(rows(of)).find((one): one is StepsRow => one.kind === "steps")
  if (!row) throw new Error("no steps")
  return row
}

const piece = (args_delta: string) => part({ type: "tool-call", tool_call_id: "c1", tool_name: "execute", args_delta })
const toolResult = (id: string, given?: unknown, isError?: boolean) => ({ ...result(id, given, isError), type: "tool-result" as const, tool_call_id: id })

describe("rows of a stored chat", () => {
  it("are prompts, texts, one row for a run of steps over several messages, and the end of each turn", () => {
    const of = picture([
      asked(1),
      message(2, "assistant", thought("hm"), text("I look."), call("c1")),
      message(3, "tool", result("c1")),
      message(4, "assistant", thought("so"), call("c2"), call("c3")),
      message(5, "tool", result("c2")),
      message(6, "tool", result("c3")),
      said(7, "Done."),
      asked(8),
    ])
    expect(kinds(of)).toEqual(["user", "reasoning", "text", "steps", "text", "end", "user"])
    expect(stepsIn(of).steps.map((step) => step.kind)).toEqual(["call", "reasoning", "call", "call"])
    expect(stepsIn(of)).toMatchObject({ isRunning: false, failed: 0 })
    expect(new Set(keys(of)).size).toBe(keys(of).length)
    expect(rowAt(rows(of), 2)).toMatchObject({ text: "I look." })
    expect(countRows(rows(of))).toBe(7)
  })

  it("join a call with the result that follows it, though vendors repeat ids", () => {
    const of = picture([
      asked(1),
      message(2, "assistant", call("same")),
      message(3, "tool", result("same", { output: "first" })),
      message(4, "assistant", call("same")),
      message(5, "tool", result("same", { output: "second" })),
    ])
    expect(stepsIn(of).steps).toMatchObject([{ result: { output: "first" } }, { result: { output: "second" } }])
  })

  it("tell how each call ended", () => {
    const given = [
      ["done", result("x")],
      ["failed", result("x", { error: "No such file." }, true)],
      ["failed", result("x", { success: false, exit_code: 1 })],
      ["done", result("x", { success: false, running: true, error: "It goes on." })],
      ["interrupted", result("x", { error: "The user interrupted this call." }, true)],
    ] as const
    for (const [state, came] of given) {
      expect(stepsIn(picture([asked(1), message(2, "assistant", call("x")), message(3, "tool", came)])).steps).toMatchObject([{ state }])
    }
    const open = [asked(1), message(2, "assistant", call("x"))]
    expect(stepsIn(picture(open, "running")).steps).toMatchObject([{ state: "running" }])
    expect(stepsIn(picture(open, "waiting")).steps).toMatchObject([{ state: "interrupted" }])
    expect(stepsIn(picture([...open, asked(3)], "running")).steps).toMatchObject([{ state: "interrupted" }])
  })

  it("show a compaction as a row of its own", () => {
    const told = { summary: "It was long.", source: "manual", usage_percent: 71.5 }
    const of = picture([
      asked(1),
      message(2, "assistant", call("c1")),
      message(3, "tool", result("c1")),
      message(5, "assistant", call("s", summaryTool, { source: "manual" })),
      message(6, "tool", result("s", told)),
      message(7, "assistant", call("c2")),
      message(8, "tool", result("c2")),
    ])
    expect(kinds(of)).toEqual(["user", "steps", "summary", "steps", "end"])
    expect(rowAt(rows(of), 2)).toMatchObject({ state: "done", summary: "It was long.", isManual: true, percent: 71.5 })
  })

  it("show what is no text: files, references, sources once each, context, notices", () => {
    const source = (url: string) => ({ type: "source" as const, url })
    const of = picture([
      message(1, "user", text("look"), { type: "file-reference", file_name: "a.py", start_line: 1, end_line: 2, content: "x" }),
      message(2, "system", text("The policy has changed.")),
      message(3, "user", { type: "context-file", context_file_path: "/AGENTS.md" }),
      message(4, "assistant", source("http://a"), text("so"), source("http://b"), source("http://a")),
      message(5, "assistant", { type: "file", media_type: "image/png", file_id: "f" }),
    ])
    expect(kinds(of)).toEqual(["user", "notice", "context", "text", "sources", "file", "end"])
    expect(rowAt(rows(of), 0)).toMatchObject({ blocks: [{ kind: "text" }, { kind: "file-reference" }] })
    expect(rowAt(rows(of), 4)).toMatchObject({ sources: [{ url: "http://a" }, { url: "http://b" }] })
  })

  it("have a result whose call was not read", () => {
    const of = fromPage(page([message(3, "tool", result("c1")), said(4)], true))
    expect(stepsIn(of).steps).toMatchObject([{ name: "execute", args: undefined, state: "done" }])
    const whole = withOlder(of, page([asked(1), message(2, "assistant", call("c1"))]))
    expect(stepsIn(whole).steps).toMatchObject([{ args: { command: "ls" }, state: "done" }])
  })
})

describe("rows of an answer that is being written", () => {
  const running = after(picture([asked(1)], "running"), previewReset())

  it("show a call from its first letters on", () => {
    let now = after(running, piece(""), piece('{"comm'))
    expect(stepsIn(now).steps).toMatchObject([{ state: "writing", name: "execute", args: {} }])
    now = after(now, piece('and":"make te'))
    expect(stepsIn(now).steps).toMatchObject([{ state: "writing", args: { command: "make te" } }])
    now = after(now, part(call("c1", "execute", { command: "make test" })))
    expect(stepsIn(now)).toMatchObject({ isRunning: true, steps: [{ state: "running", args: { command: "make test" } }] })
    now = after(now, output("c1", "ok 1"))
    expect(stepsIn(now).steps).toMatchObject([{ state: "running", output: "ok 1" }])
    now = after(now, part(toolResult("c1", { success: true, output: "ok 1\nok 2" }), "tool"))
    expect(stepsIn(now)).toMatchObject({ isRunning: false, steps: [{ state: "done", output: null }] })
  })

  it("keep their keys and their content when the stored message takes over, at every event", () => {
    const content = [thought("hm"), text("I look."), call("c1"), call("c2")]
    const writing = after(running, part(thought("hm")), part(text("  ")), part(text("I look.")), piece('{"command":"ls"}'), part(call("c1")), part(call("c2")))
    const done = after(writing, part(toolResult("c1"), "tool"), part(toolResult("c2"), "tool"))
    const live = allRows(rows(done))
    expect(live.map((row) => row.kind)).toEqual(["user", "reasoning", "text", "steps"])
    const takeover = [
      stored(message(4, "assistant", ...content)),
      stored(message(5, "tool", result("c1"))),
      stored(message(6, "tool", result("c2"))),
      previewReset(2, 1),
    ]
    let now = done
    for (const event of takeover) {
      now = after(now, event)
      expect(allRows(rows(now)).map(({ kind, key }) => ({ kind, key }))).toEqual(live.map(({ kind, key }) => ({ kind, key })))
      expect(stepsIn(now).steps.map((step) => [step.key, step.kind === "call" && step.state])).toEqual([
        ["a1.2", "done"],
        ["a1.3", "done"],
      ])
    }
    const [first, last] = [after(done, ...takeover.slice(0, 1)), after(done, ...takeover.slice(0, 3))]
    expect(stepsIn(last)).toBe(stepsIn(first))
    const next = after(now, part(thought("and")), part(call("c9")))
    expect(allRows(rows(next)).map((row) => row.kind)).toEqual(["user", "reasoning", "text", "steps"])
    expect(stepsIn(next).key).toBe(stepsIn(now).key)
    expect(stepsIn(next).steps).toHaveLength(4)
  })

  it("say which text is still being written", () => {
    const now = after(running, part(text("one")), part(call("c1")), part(text("two")))
    expect(allRows(rows(now)).flatMap((row) => (row.kind === "text" ? [row.isStreaming] : []))).toEqual([false, true])
  })

  it("show a compaction that runs", () => {
    const now = after(running, part({ type: "tool-call", tool_call_id: "s", tool_name: summaryTool }))
    expect(allRows(rows(now))).toMatchObject([{ kind: "user" }, { kind: "summary", state: "running", summary: "" }])
  })

  it("leave nothing that looks as if it ran when the turn has ended", () => {
    const now = after(running, piece('{"comm'), wire({ id: "e", type: "status", chat_id: "x", status: { status: "error" } }))
    expect(stepsIn(now)).toMatchObject({ isRunning: false, steps: [{ state: "interrupted" }] })
  })
})

describe("rows that did not change", () => {
  const history = [asked(1), message(2, "assistant", text("a"), call("c1")), message(3, "tool", result("c1")), asked(4), said(5), asked(6)]
  const before = after(picture(history, "running"), previewReset(), part(thought("hm")), part(text("one ")), part(call("c2")), part(text("and ")))

  it("are the same objects after a chunk", () => {
    const now = after(before, part(text("more")))
    const [one, other] = [rows(before), rows(now)]
    expect(other.settled).toBe(one.settled)
    expect(other.tail.slice(0, -1).every((row, place) => row === one.tail[place])).toBe(true)
    expect(other.tail.at(-1)).not.toBe(one.tail.at(-1))
  })

  it("are the same objects after a stored message, and after older ones", () => {
    const now = after(before, stored(message(7, "assistant", thought("hm"), text("one"), call("c2"))), stored(message(8, "tool", result("c2"))))
    expect(rows(now).settled).toBe(rows(before).settled)
    const older = withOlder({ ...before, hasOlder: true }, page([asked(-1), said(0)]))
    const known = new Set<Row>(allRows(rows({ ...before, hasOlder: true })))
    expect(allRows(rows(older)).filter((row) => known.has(row)).length).toBe(known.size)
  })

  it("cost nothing: a chunk in a chat of 5,000 messages looks at none of them", () => {
    let looked = 0
    const counted = (one: ChatMessage): ChatMessage =>
      Object.defineProperty({ ...one }, "content", { get: () => ((looked += 1), one.content) })
    const many = Array.from({ length: 5000 }, (_, place) => counted(place % 2 ? said(place + 1) : asked(place + 1)))
    const list = new Proxy(many, { get: (of, name, self) => ((looked += 1), Reflect.get(of, name, self)) })
    let now = after({ ...picture([], "running"), messages: list, partsAfter: 5000 }, part(text("word ")))
    rows(now)
    expect(looked).toBeGreaterThan(5000)
    looked = 0
    for (let chunk = 0; chunk < 100; chunk++) {
      now = after(now, part(text("word ")))
      rows(now)
    }
    expect(looked).toBeLessThan(100 * 10)
    looked = 0
    now = after(now, stored(said(5001)))
    rows(now)
    expect(looked).toBeLessThan(5000 * 6)
  })
})

describe("words of the server for calls that were stopped", () => {
  it("are all known here", () => {
    const folder = resolve(import.meta.dirname, "../../../src/chatd/store/sql")
    const reasons = readdirSync(folder, { recursive: true, encoding: "utf8" })
      .filter((name) => name.endsWith(".sql"))
      .flatMap((name) => [...readFileSync(join(folder, name), "utf8").matchAll(/cancel_open_calls\(change, '([^']+)'/g)])
      .map((found) => found[1] ?? "")
    expect(reasons.length).toBeGreaterThan(4)
    expect(reasons.filter((reason) => !tellsInterruption(reason))).toEqual([])
  })
})
