import { describe, expect, it } from "vitest"
import type { Step } from "../../chat"
import { logText } from "./build_log"
import { fileLines } from "./file_lines"
import { withGapsMarked } from "./left_out"
import { askedEdits, writtenFile } from "./made_diff"
import { merged } from "./merged"
import { processResult, shortCommand, shortId } from "./process_result"
import { call } from "./testing/calls"
import { toolTitle } from "./tool_title"

describe("what came of a command", () => {
  it("has an exit code when it has ended", () => {
    expect(processResult({ success: false, exit_code: 3, wall_duration_ms: 40 })).toMatchObject({ exitCode: 3, milliseconds: 40, isRunning: false })
  })
  it("has none while it runs", () => {
    expect(processResult({ success: true, exit_code: 0, wall_duration_ms: 9, running: true })).toMatchObject({ exitCode: null, isRunning: true })
    expect(processResult({ success: true, exit_code: 0, wall_duration_ms: 0, backgrounded: true })).toMatchObject({ exitCode: null, milliseconds: null })
    expect(processResult({ success: false, exit_code: -1 }).exitCode).toBeNull()
  })
  it.each([undefined, null, 7, "words", [], { exit_code: "0", output: 5, truncated: "much" }])("survives %j", (odd) => {
    expect(processResult(odd)).toMatchObject({ output: "", exitCode: null, omitted: null })
  })
})

describe("a command on one line", () => {
  it("is its first line", () => {
    expect(shortCommand("\n cd web &&\nnpm test")).toBe("cd web …")
    expect(shortCommand("ls")).toBe("ls")
    expect(shortCommand("abcdef", 3)).toBe("abc…")
  })
  it("has an id that can be read", () => expect([shortId("7f3a9c01-aa22"), shortId("7")]).toEqual(["7f3a9c01", "7"]))
})

describe("lines of a file", () => {
  it("lose their numbers and keep their tabs", () => {
    const content = "9\tif a:\n10\t\treturn\n11\t\n"
    expect(fileLines({ content, lines_read: 3, total_lines: 20, next_offset: 12 })).toEqual({
      code: "if a:\n\treturn\n",
      first: 9,
      count: 3,
      total: 20,
      hasMore: true,
    })
  })
  it("are none in what is no page of a file", () => expect(fileLines({ output: "cut" })).toBeNull())
})

describe("what is left out", () => {
  it("is set off", () => {
    const marked = withGapsMarked("a\n\n[2048 bytes are left out here. Ask for less: a range.]\n\nb")
    expect(marked).toBe("a\n\u001b[0m\u001b[7m ⋯ 2 kB left out here ⋯ \u001b[0m\nb")
  })
  it("is not found in other brackets", () => expect(withGapsMarked("[nothing was left out here]")).toBe("[nothing was left out here]"))
})

describe("a diff of what is asked for", () => {
  it("keeps the lines that stay", () => {
    const [file] = askedEdits({ files: [{ path: "/a", edits: [{ old_text: "a\nb\nc", new_text: "a\nB\nB2\nc" }] }] })
    expect(file?.hunks[0]?.lines.map(({ kind, text }) => `${kind} ${text}`)).toEqual(["same a", "removed b", "added B", "added B2", "same c"])
    expect(file).toMatchObject({ additions: 2, deletions: 1 })
  })
  it("counts a line once that both begin and end with", () => {
    const [file] = askedEdits({ files: [{ path: "/a", edits: [{ search: "a\na", replace: "a" }] }] })
    expect(file?.hunks[0]?.lines.map(({ kind }) => kind)).toEqual(["same", "removed"])
  })
  it.each([undefined, {}, { files: "x" }, { files: [{}, 3] }, { files: [{ path: "/a", edits: [{ old_text: "half" }] }] }])("survives %j", (args) => {
    expect(() => askedEdits(args)).not.toThrow()
  })
  it("of a new file is all additions", () => {
    expect(writtenFile("/a", "x\ny\n", true, [])).toMatchObject({ additions: 2, deletions: 0, change: "added" })
    expect(writtenFile("/a", "", true, []).hunks).toEqual([])
  })
})

describe("files read in a row", () => {
  const thought: Step = { kind: "reasoning", key: "t", messageId: null, text: "so", isStreaming: false, startedAt: null, endedAt: null }
  it("are one line, with the key of the first", () => {
    const [one, two, three, run] = [call("read_file", "done"), call("read_file", "running"), call("read_file", "done"), call("execute", "done")]
    expect(merged([one, two, run, thought, three])).toEqual([{ kind: "reads", key: one.key, calls: [one, two] }, run, thought, three])
  })
})

describe("names of tools", () => {
  it.each([
    ["github__create_issue", "Create issue", "github"],
    ["listOpenPRs", "List open PRs", ""],
    ["mcp__browser__take-screenshot", "Take screenshot", "browser"],
    ["HTTP_get", "HTTP get", ""],
    ["__odd", "Odd", ""],
    ["", "", ""],
  ])("%s", (tool, name, server) => expect(toolTitle(tool)).toEqual({ name, server }))
})

it("names the stages of a build once", () => {
  const line = (id: number, stage: string, text: string, level = "info") => ({ id, created_at: "", level, stage, line: text })
  expect(logText([line(1, "A", "one"), line(2, "A", "two"), line(3, "", "no stage"), line(4, "B", "bad", "error")])).toBe(
    "\u001b[1mA\u001b[0m\none\ntwo\nno stage\n\u001b[1mB\u001b[0m\n\u001b[31mbad\u001b[0m",
  )
})
