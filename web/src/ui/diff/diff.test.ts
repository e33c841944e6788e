import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { changedWords } from "./changed_words"
import { commentedIn, extended, nextLine } from "./commented"
import { parseDiff } from "./parse"
import { diffRows } from "./rows"

const simple = `diff --git a/src/a.py b/src/a.py
index 111..222 100644
--- a/src/a.py
+++ b/src/a.py
@@ -1,4 +1,5 @@ def f():
 one
-two
+two and more
+three
 four
 five
@@ -20 +21 @@
--- twenty
+++ twenty
`

describe("a diff", () => {
  it("has files, hunks and numbered lines", () => {
    const [file] = parseDiff(simple).files
    expect(file).toMatchObject({ path: "src/a.py", oldPath: null, change: "modified", additions: 3, deletions: 2 })
    expect(file?.hunks.map((hunk) => hunk.heading)).toEqual(["def f():", ""])
    expect(file?.hunks[0]?.lines.map((line) => [line.kind, line.oldNumber, line.newNumber])).toEqual([
      ["same", 1, 1],
      ["removed", 2, null],
      ["added", null, 2],
      ["added", null, 3],
      ["same", 3, 4],
      ["same", 4, 5],
    ])
  })

  it("takes lines that look like headers for what they are", () => {
    const hunk = parseDiff(simple).files[0]?.hunks[1]
    expect(hunk?.lines.map((line) => [line.kind, line.text])).toEqual([
      ["removed", "-- twenty"],
      ["added", "++ twenty"],
    ])
  })

  it.each([
    ["rename from old name.txt\nrename to new name.txt", { path: "new name.txt", oldPath: "old name.txt", change: "renamed" }],
    ["new file mode 100644\nBinary files /dev/null and b/x.png differ", { change: "added", isBinary: true }],
    ["deleted file mode 100644\n--- a/x\n+++ /dev/null\n@@ -1 +0,0 @@\n-gone", { path: "x", change: "deleted", deletions: 1 }],
    ["copy from x\ncopy to y", { path: "y", oldPath: "x", change: "copied" }],
    ["old mode 100644\nnew mode 100755", { path: "x", change: "modified", hunks: [] }],
  ])("knows %j", (rest, expected) => expect(parseDiff(`diff --git a/x b/x\n${rest}\n`).files[0]).toMatchObject(expected))

  it("marks a file without a last newline", () => {
    const { files } = parseDiff("diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n\\ No newline at end of file\n+b\n\\ No newline at end of file\n")
    expect(files[0]?.hunks[0]?.lines.map((line) => line.hasNoNewline)).toEqual([true, true])
  })

  it("keeps the notes of the server", () => {
    const { files, notes } = parseDiff(
      "diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1,9 +1,9 @@\n a\n[812 more bytes of this file's diff are left out]\ndiff --git a/y b/y\nnew file mode 100644\n[3 more files are left out]\n",
    )
    expect(files.map((file) => [file.path, file.notes])).toEqual([
      ["x", ["812 more bytes of this file's diff are left out"]],
      ["y", []],
    ])
    expect(notes).toEqual(["3 more files are left out"])
  })

  it("is read without git's header too", () => {
    const { files } = parseDiff("--- notes/a.md\n+++ notes/a.md\n@@ -0,0 +1,2 @@\n+[a note]\n+two\n--- b.md\n+++ b.md\n(The file has too many lines to show what has changed.)\n")
    expect(files.map((file) => [file.path, file.additions, file.notes.length])).toEqual([
      ["notes/a.md", 2, 0],
      ["b.md", 0, 1],
    ])
  })

  it.each([
    ['"a/t\\303\\244b\\tx" "b/t\\303\\244b\\tx"', "täb\tx"],
    ["a/with space b/with space", "with space"],
    ["a/a b/b b/a b/b", "a b/b"],
  ])("reads the name in %s", (names, path) => expect(parseDiff(`diff --git ${names}\n`).files[0]?.path).toBe(path))

  it("never throws and keeps every signed line, cut anywhere", () => {
    fc.assert(fc.property(fc.nat(simple.length), (end) => parseDiff(simple.slice(0, end)).files.length <= 1))
    const bits = ["diff --git a/x b/x\n", "--- a/x\n", "+++ b/x\n", "@@ -1,2 +1,2 @@\n", " a\n", "+b\n", "-c\n", "\\ No\n", "[n]\n", "\n", "x"]
    fc.assert(fc.property(fc.array(fc.constantFrom(...bits)), (parts) => void parseDiff(parts.join(""))))
  })

  it("is empty when there is nothing", () => expect(parseDiff("")).toEqual({ files: [], notes: [] }))
})

describe("changed words", () => {
  const marked = (before: string, after: string) => {
    const ranges = changedWords(before, after)
    return [ranges.old.map((range) => before.slice(range.start, range.end)), ranges.new.map((range) => after.slice(range.start, range.end))]
  }
  it.each([
    ["const a = 1", "const a = 2", [["1"], ["2"]]],
    ["call(one)", "call(one, two)", [[], [", two"]]],
    ["same", "same", [[], []]],
    ["alpha beta", "gamma delta", [[], []]],
  ])("between %j and %j", (before, after, expected) => expect(marked(before, after)).toEqual(expected))
})

describe("rows", () => {
  const { files } = parseDiff(simple)
  it("stand side by side", () => {
    const rows = diffRows(files, "split", new Set(), true)
    expect(rows.map((row) => row.kind)).toEqual(["file", "gap", "pair", "pair", "pair", "pair", "pair", "gap", "pair"])
    expect(rows[3]).toMatchObject({ left: { line: { text: "two" } }, right: { line: { text: "two and more" } } })
    expect(rows[4]).toMatchObject({ left: null, right: { line: { text: "three" } } })
  })
  it("stand in one column, removed before added", () => {
    const rows = diffRows(files, "unified", new Set(), false)
    expect(rows.flatMap((row) => (row.kind === "line" ? [row.cell.line.kind] : []))).toEqual(["same", "removed", "added", "added", "same", "same", "removed", "added"])
  })
  it("of a closed file are only its name", () => expect(diffRows(files, "unified", new Set(["src/a.py"]), true)).toHaveLength(1))
})

describe("a comment", () => {
  const rows = diffRows(parseDiff(simple + simple.replaceAll("src/a.py", "src/b.py")).files, "unified", new Set(), true)
  it("is about the lines of one side, from the first to the last", () => {
    expect(commentedIn(rows, { side: "new", from: 5, to: 2 })).toEqual({ file: "src/a.py", side: "new", startLine: 1, endLine: 3, code: "one\ntwo and more\nthree" })
    expect(commentedIn(rows, { side: "old", from: 3, to: 3 })).toMatchObject({ side: "old", startLine: 2, endLine: 2, code: "two" })
  })
  it("stays in its file", () => {
    const chosen = { side: "new" as const, from: 2, to: 2 }
    expect(extended(rows, chosen, rows.length - 1)).toBe(chosen)
    expect(extended(rows, chosen, 4).to).toBe(4)
  })
  it("is begun from line to line, over what is between", () => {
    expect(nextLine(rows, 7, 1, "new")).toBe(9)
    expect(nextLine(rows, 2, -1, "new")).toBeNull()
  })
})
