/** Which lines a comment is about. */
import { type DiffRow, lineAt, numberOn, type Side } from "./rows"

/** Rows from where it was begun to where it has got, in either direction. */
export interface Chosen {
  side: Side
  from: number
  to: number
}

export interface Commented {
  file: string
  side: Side
  startLine: number
  endLine: number
  code: string
}

export function isChosen(chosen: Chosen | null, row: number, side: Side): boolean {
  return chosen !== null && chosen.side === side && row >= Math.min(chosen.from, chosen.to) && row <= Math.max(chosen.from, chosen.to)
}

/** A removed line is on the old side, everything else on the new one. */
export function sideOf(row: DiffRow | undefined, asked: Side): Side {
  return row?.kind === "line" ? (row.cell.line.kind === "removed" ? "old" : "new") : asked
}

/** A range stays within its file. */
export function extended(rows: readonly DiffRow[], chosen: Chosen, to: number): Chosen {
  const file = fileAt(rows, chosen.from)
  return fileAt(rows, to) === file ? { ...chosen, to } : chosen
}

export function commentedIn(rows: readonly DiffRow[], chosen: Chosen): Commented | null {
  const first = Math.min(chosen.from, chosen.to)
  const last = Math.max(chosen.from, chosen.to)
  const lines = rows
    .slice(first, last + 1)
    .flatMap((row) => lineAt(row, chosen.side) ?? [])
    .filter((line) => numberOn(line, chosen.side) !== null)
  const numbers = lines.flatMap((line) => numberOn(line, chosen.side) ?? [])
  const file = fileAt(rows, chosen.from)
  const startLine = numbers[0]
  const endLine = numbers.at(-1)
  if (file === null || startLine === undefined || endLine === undefined) return null
  return { file, side: chosen.side, startLine, endLine, code: lines.map((line) => line.text).join("\n") }
}

/** The nearest row in a direction that has a line on that side. */
export function nextLine(rows: readonly DiffRow[], from: number, step: 1 | -1, side: Side): number | null {
  for (let place = from + step; place >= 0 && place < rows.length; place += step) if (lineAt(rows[place], side)) return place
  return null
}

function fileAt(rows: readonly DiffRow[], place: number): string | null {
  const row = rows[place]
  return row && "file" in row ? (row.file?.path ?? null) : null
}
