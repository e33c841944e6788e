/** What a diff looks like from top to bottom, in one column or in two. */
import type { DiffFile, DiffLine, Hunk } from "./parse"

export type Layout = "unified" | "split"
export type Side = "old" | "new"

export interface Cell {
  line: DiffLine
  /** Its other version, to find the words that differ. */
  twin: DiffLine | null
}

export type DiffRow =
  | { kind: "file"; file: DiffFile; isOpen: boolean }
  | { kind: "gap"; file: DiffFile; hunk: Hunk }
  | { kind: "line"; file: DiffFile; hunk: Hunk; cell: Cell }
  | { kind: "pair"; file: DiffFile; hunk: Hunk; left: Cell | null; right: Cell | null }
  | { kind: "note"; file: DiffFile | null; text: string }
  | { kind: "nothing"; file: DiffFile }

export function diffRows(files: readonly DiffFile[], layout: Layout, closed: ReadonlySet<string>, hasHeads: boolean): DiffRow[] {
  return files.flatMap((file) => {
    const isOpen = !closed.has(file.path)
    const head: DiffRow[] = hasHeads ? [{ kind: "file", file, isOpen }] : []
    return isOpen || !hasHeads ? [...head, ...insideOf(file, layout)] : head
  })
}

function insideOf(file: DiffFile, layout: Layout): DiffRow[] {
  const rows: DiffRow[] = []
  for (const hunk of file.hunks) {
    if (isAfterGap(hunk)) rows.push({ kind: "gap", file, hunk })
    rows.push(...(layout === "split" ? pairs(file, hunk) : lines(file, hunk)))
  }
  for (const text of file.notes) rows.push({ kind: "note", file, text })
  if (rows.length === 0) rows.push({ kind: "nothing", file })
  return rows
}

/** Where something of the file is not shown above, or there is a heading to say where one is. */
function isAfterGap(hunk: Hunk): boolean {
  return hunk.heading !== "" || hunk.oldStart > 1 || hunk.newStart > 1
}

function lines(file: DiffFile, hunk: Hunk): DiffRow[] {
  return runs(hunk).flatMap(({ same, removed, added }) =>
    [
      ...same.map((line) => ({ line, twin: null })),
      ...removed.map((line, place) => ({ line, twin: added[place] ?? null })),
      ...added.map((line, place) => ({ line, twin: removed[place] ?? null })),
    ].map((cell) => ({ kind: "line" as const, file, hunk, cell })),
  )
}

function pairs(file: DiffFile, hunk: Hunk): DiffRow[] {
  return runs(hunk).flatMap(({ same, removed, added }) => [
    ...same.map((line) => ({ kind: "pair" as const, file, hunk, left: { line, twin: null }, right: { line, twin: null } })),
    ...Array.from({ length: Math.max(removed.length, added.length) }, (_, place) => {
      const before = removed[place] ?? null
      const after = added[place] ?? null
      return {
        kind: "pair" as const,
        file,
        hunk,
        left: before && { line: before, twin: after },
        right: after && { line: after, twin: before },
      }
    }),
  ])
}

interface Run {
  same: DiffLine[]
  removed: DiffLine[]
  added: DiffLine[]
}

/** Lines in turns: those that stay, then those that go and those that come in their place. */
function runs(hunk: Hunk): Run[] {
  const found: Run[] = []
  for (const line of hunk.lines) {
    let run = found.at(-1)
    if (!run || isAfter(run, line)) found.push((run = { same: [], removed: [], added: [] }))
    run[line.kind].push(line)
  }
  return found
}

function isAfter(run: Run, line: DiffLine): boolean {
  if (line.kind === "added") return false
  return run.added.length > 0 || (line.kind === "same" && run.removed.length > 0)
}

/** The line of a row on one side; in one column, the line whatever its side. */
export function lineAt(row: DiffRow | undefined, side: Side): DiffLine | null {
  if (row?.kind === "pair") return (side === "old" ? row.left?.line : row.right?.line) ?? null
  return row?.kind === "line" ? row.cell.line : null
}

export function numberOn(line: DiffLine, side: Side): number | null {
  return side === "old" ? line.oldNumber : line.newNumber
}
