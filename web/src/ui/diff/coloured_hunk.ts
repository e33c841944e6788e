/** The lines of a hunk in colour: each side is read as one text, since what a line means depends on those before it. */
import type { Line } from "../code/tones"
import type { Colour } from "../code/use_coloured"
import type { Range } from "./changed_words"
import type { DiffLine, Hunk } from "./parse"

const known = new WeakMap<Hunk, Map<DiffLine, Line>>()

export function colouredLine(hunk: Hunk, line: DiffLine, language: string | undefined, colour: Colour | null): Line {
  const plain: Line = [{ text: line.text, tone: null }]
  if (colour === null || language === undefined) return plain
  let lines = known.get(hunk)
  if (!lines) known.set(hunk, (lines = read(hunk, language, colour)))
  return lines.get(line) ?? plain
}

function read(hunk: Hunk, language: string, colour: Colour): Map<DiffLine, Line> {
  const lines = new Map<DiffLine, Line>()
  for (const left of ["added", "removed"] as const) {
    const side = hunk.lines.filter((line) => line.kind !== left)
    const coloured = colour(side.map((line) => line.text).join("\n"), language)
    side.forEach((line, place) => {
      const found = coloured?.[place]
      if (found) lines.set(line, found)
    })
  }
  return lines
}

/** A line cut where what has changed begins and ends. */
export function markedParts(line: Line, ranges: readonly Range[]): { line: Line; isChanged: boolean }[] {
  if (ranges.length === 0) return [{ line, isChanged: false }]
  const parts: { line: { text: string; tone: Line[number]["tone"] }[]; isChanged: boolean }[] = []
  let at = 0
  for (const { text, tone } of line) {
    let done = 0
    while (done < text.length) {
      const place = at + done
      const range = ranges.find((one) => place >= one.start && place < one.end)
      const end = range?.end ?? ranges.find((one) => one.start > place)?.start ?? Number.POSITIVE_INFINITY
      const piece = text.slice(done, end - at)
      const last = parts.at(-1)
      const isChanged = range !== undefined
      if (last && last.isChanged === isChanged) last.line.push({ text: piece, tone })
      else parts.push({ line: [{ text: piece, tone }], isChanged })
      done += piece.length
    }
    at += text.length
  }
  return parts
}
