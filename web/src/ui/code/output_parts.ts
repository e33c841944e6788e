/** Long output in parts of so many lines, so that another line at its end draws only the last of them. */
import { plain, readAnsi, type Style } from "./ansi_pieces"

export interface Part {
  place: number
  text: string
  start: Style
  end: Style
}

const linesEach = 100

/** Given the parts of when it was shorter, those that have not changed stay the same objects. */
export function outputParts(text: string, before: readonly Part[] = []): Part[] {
  const parts: Part[] = []
  let start = plain
  let at = 0
  while (at < text.length) {
    const place = parts.length
    const known = before[place]
    const written = text.slice(at, partEnd(text, at))
    const part = known?.start === start && known.text === written ? known : read(place, written, start)
    parts.push(part)
    start = part.end
    at += part.text.length
  }
  return parts
}

function read(place: number, text: string, start: Style): Part {
  return { place, text, start, end: readAnsi(text, start).end }
}

function partEnd(text: string, at: number): number {
  let end = at
  for (let line = 0; line < linesEach; line += 1) {
    const next = text.indexOf("\n", end)
    if (next === -1) return text.length
    end = next + 1
  }
  return end
}

/** The last parts that fit, and how many characters are before them. */
export function shownParts(parts: readonly Part[], limit: number): { shown: readonly Part[]; cut: number } {
  let first = parts.length
  let size = 0
  while (first > 0 && size + (parts[first - 1]?.text.length ?? 0) <= limit) {
    first -= 1
    size += parts[first]?.text.length ?? 0
  }
  const cut = parts.slice(0, first).reduce((sum, part) => sum + part.text.length, 0)
  const last = parts.at(-1)
  if (cut === 0) return { shown: parts, cut }
  if (first < parts.length || !last) return { shown: parts.slice(first), cut }
  // The last alone is longer than what may be shown: of it, the end.
  return { shown: [{ ...last, text: last.text.slice(-limit) }], cut: cut - limit }
}
