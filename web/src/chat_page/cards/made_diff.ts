/** Diffs of what a call asks for, for as long as there is none of what it did. Where in a file that is, nobody knows yet. */
import { textOf } from "../../chat/guards"
import type { DiffFile, DiffLine } from "../../ui/diff/parse"
import { fieldsIn } from "./lists"

/** All lines of a new text, as added ones. */
export function writtenFile(path: string, content: string, isNew: boolean, notes: string[]): DiffFile {
  const lines = linesOf(content).map((text, place) => line("added", text, place + 1))
  return {
    path,
    oldPath: null,
    change: isNew ? "added" : "modified",
    isBinary: false,
    hunks: lines.length > 0 ? [{ oldStart: 0, newStart: 1, heading: "", lines }] : [],
    notes,
    additions: lines.length,
    deletions: 0,
  }
}

/** The files that `edit_files` was asked to edit, as far as they are written. */
export function askedEdits(args: unknown): DiffFile[] {
  return fieldsIn(args, "files").map((file) => {
    const hunks = fieldsIn(file, "edits").map((edit) => ({
      oldStart: 0,
      newStart: 0,
      heading: "",
      lines: edited(textOf(edit, "old_text") || textOf(edit, "search"), textOf(edit, "new_text") || textOf(edit, "replace")),
    }))
    const count = (kind: DiffLine["kind"]) => hunks.reduce((sum, hunk) => sum + hunk.lines.filter((one) => one.kind === kind).length, 0)
    return {
      path: textOf(file, "path"),
      oldPath: null,
      change: "modified" as const,
      isBinary: false,
      hunks,
      notes: [],
      additions: count("added"),
      deletions: count("removed"),
    }
  })
}

/** Lines that both begin and end with stay as they are. */
function edited(before: string, after: string): DiffLine[] {
  const old = linesOf(before)
  const next = linesOf(after)
  const most = Math.min(old.length, next.length)
  let head = 0
  while (head < most && old[head] === next[head]) head += 1
  let tail = 0
  while (tail < most - head && old.at(-1 - tail) === next.at(-1 - tail)) tail += 1
  return [
    ...old.slice(0, head).map((text) => line("same", text)),
    ...old.slice(head, old.length - tail).map((text) => line("removed", text)),
    ...next.slice(head, next.length - tail).map((text) => line("added", text)),
    ...old.slice(old.length - tail).map((text) => line("same", text)),
  ]
}

function linesOf(text: string): string[] {
  if (text === "") return []
  const lines = text.split("\n")
  if (lines.at(-1) === "") lines.pop()
  return lines
}

function line(kind: DiffLine["kind"], text: string, number: number | null = null): DiffLine {
  return { kind, text, oldNumber: null, newNumber: number, hasNoNewline: false }
}
