/** Unified diffs, as git and `patch` write them, and as the server cuts them (with notes in brackets where something is left out). */
import { pathIn, pathsInHeader } from "./paths"

export type Change = "added" | "deleted" | "renamed" | "copied" | "modified"

export interface DiffLine {
  kind: "same" | "added" | "removed"
  oldNumber: number | null
  newNumber: number | null
  text: string
  /** The file ends here, without an end of line. */
  hasNoNewline: boolean
}

export interface Hunk {
  oldStart: number
  newStart: number
  /** The function that it is in, where git has found one. */
  heading: string
  lines: DiffLine[]
}

export interface DiffFile {
  path: string
  /** Where it was before, if that was elsewhere. */
  oldPath: string | null
  change: Change
  isBinary: boolean
  hunks: Hunk[]
  /** What the server says about what is left out. */
  notes: string[]
  additions: number
  deletions: number
}

export interface Diff {
  files: DiffFile[]
  /** About the whole. */
  notes: string[]
}

interface Reading {
  files: DiffFile[]
  notes: string[]
  file: DiffFile | null
  hunk: Hunk | null
  left: { old: number; new: number }
  /** After `diff --git`, paths have a/ and b/ in front. */
  isGit: boolean
}

const hunkHead = /^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@ ?(.*)$/
const note = /^(?:\[(.*)\]|\((.*)\))$/
const wholeNote = /^\d+ more files? (?:are|is) left out$/

export function parseDiff(text: string): Diff {
  const reading: Reading = { files: [], notes: [], file: null, hunk: null, left: { old: 0, new: 0 }, isGit: false }
  const lines = text.split("\n")
  if (lines.at(-1) === "") lines.pop()
  lines.forEach((line, place) => {
    if (!readContent(reading, line, lines[place + 1])) readHeader(reading, line, lines[place + 1])
  })
  return { files: reading.files, notes: reading.notes }
}

/** A line of a hunk, by its sign and by how many are still to come: a removed "-- x" is no header. */
function readContent(reading: Reading, line: string, next: string | undefined): boolean {
  const { file, hunk, left } = reading
  if (!file || !hunk) return false
  if (line.startsWith("\\")) {
    const last = hunk.lines.at(-1)
    if (last) last.hasNoNewline = true
    return true
  }
  if (left.old <= 0 && left.new <= 0) return false
  const sign = line === "" && !(next !== undefined && note.test(next)) ? " " : line[0]
  const text = line.slice(1)
  const oldNumber = hunk.oldStart + countOf(hunk, "added")
  const newNumber = hunk.newStart + countOf(hunk, "removed")
  if (sign === " ") {
    push(hunk, { kind: "same", oldNumber, newNumber, text, hasNoNewline: false })
    left.old -= 1
    left.new -= 1
  } else if (sign === "+") {
    push(hunk, { kind: "added", oldNumber: null, newNumber, text, hasNoNewline: false })
    left.new -= 1
    file.additions += 1
  } else if (sign === "-") {
    push(hunk, { kind: "removed", oldNumber, newNumber: null, text, hasNoNewline: false })
    left.old -= 1
    file.deletions += 1
  } else return false
  return true
}

/** How many lines of a hunk are on one side: all but those of the other. Counted as they come. */
const counts = new WeakMap<Hunk, { added: number; removed: number }>()

function push(hunk: Hunk, line: DiffLine): void {
  const known = counts.get(hunk) ?? { added: 0, removed: 0 }
  if (line.kind !== "same") known[line.kind] += 1
  counts.set(hunk, known)
  hunk.lines.push(line)
}

function countOf(hunk: Hunk, without: "added" | "removed"): number {
  return hunk.lines.length - (counts.get(hunk)?.[without] ?? 0)
}

function readHeader(reading: Reading, line: string, next: string | undefined): void {
  if (line.startsWith("diff --git ")) return begin(reading, pathsInHeader(line.slice(11)), true)
  if (line.startsWith("--- ") && next?.startsWith("+++ ") && (!reading.file || !reading.isGit || reading.file.hunks.length > 0)) {
    begin(reading, { before: "", after: "" }, false)
  }
  const said = note.exec(line)
  if (said) return readNote(reading, said[1] ?? said[2] ?? "")
  const { file } = reading
  if (!file) return
  const head = hunkHead.exec(line)
  if (head) {
    reading.hunk = { oldStart: Number(head[1]), newStart: Number(head[3]), heading: head[5] ?? "", lines: [] }
    reading.left = { old: Number(head[2] ?? 1), new: Number(head[4] ?? 1) }
    file.hunks.push(reading.hunk)
  } else readFact(file, line, reading.isGit)
}

function begin(reading: Reading, { before, after }: { before: string; after: string }, isGit: boolean): void {
  const oldPath = before === after ? null : before
  reading.file = { path: after, oldPath, change: "modified", isBinary: false, hunks: [], notes: [], additions: 0, deletions: 0 }
  reading.files.push(reading.file)
  reading.hunk = null
  reading.left = { old: 0, new: 0 }
  reading.isGit = isGit
}

function readNote(reading: Reading, text: string): void {
  const isAboutAll = !reading.file || wholeNote.test(text)
  if (isAboutAll) reading.notes.push(text)
  else reading.file?.notes.push(text)
  reading.hunk = null
}

function readFact(file: DiffFile, line: string, isGit: boolean): void {
  const [, before] = /^--- (.*)$/.exec(line) ?? []
  const [, after] = /^\+\+\+ (.*)$/.exec(line) ?? []
  const [, how, side, name] = /^(rename|copy) (from|to) (.*)$/.exec(line) ?? []
  if (before !== undefined) {
    if (before === "/dev/null") file.change = "added"
    else if (file.path === "") file.path = pathIn(before, isGit)
  } else if (after !== undefined) {
    if (after === "/dev/null") file.change = "deleted"
    else if (file.oldPath === null || file.path === "") file.path = pathIn(after, isGit)
  } else if (name !== undefined) {
    file.change = how === "copy" ? "copied" : "renamed"
    if (side === "from") file.oldPath = pathIn(name, false)
    else file.path = pathIn(name, false)
  } else if (line.startsWith("new file mode")) file.change = "added"
  else if (line.startsWith("deleted file mode")) file.change = "deleted"
  else if (/^Binary files .* differ$/.test(line) || line.startsWith("GIT binary patch")) file.isBinary = true
}
