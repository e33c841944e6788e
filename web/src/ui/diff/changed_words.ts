/** Which words of two versions of a line differ. */
export interface Range {
  start: number
  end: number
}

export interface ChangedWords {
  old: Range[]
  new: Range[]
}

const most = 200
const nothing: ChangedWords = { old: [], new: [] }

/** Nothing is marked when the two have little in common: then the whole line has changed. */
export function changedWords(before: string, after: string): ChangedWords {
  const old = wordsOf(before)
  const now = wordsOf(after)
  if (old.length > most || now.length > most) return nothing
  const kept = common(old, now)
  const keptLetters = kept.old.reduce((sum, place) => sum + (old[place]?.trim().length ?? 0), 0)
  const letters = Math.max(before.replace(/\s/g, "").length, after.replace(/\s/g, "").length)
  if (keptLetters < letters * 0.35) return nothing
  return { old: rangesWithout(old, new Set(kept.old)), new: rangesWithout(now, new Set(kept.new)) }
}

function wordsOf(text: string): string[] {
  return text.match(/[\p{L}\p{N}_]+|\s+|[^\p{L}\p{N}_\s]/gu) ?? []
}

/** Places of the longest common subsequence on both sides. */
function common(old: string[], now: string[]): { old: number[]; new: number[] } {
  const width = now.length + 1
  const lengths = new Uint16Array((old.length + 1) * width)
  const at = (row: number, column: number) => lengths[row * width + column] ?? 0
  for (let row = old.length - 1; row >= 0; row -= 1) {
    for (let column = now.length - 1; column >= 0; column -= 1) {
      lengths[row * width + column] = old[row] === now[column] ? at(row + 1, column + 1) + 1 : Math.max(at(row + 1, column), at(row, column + 1))
    }
  }
  const kept = { old: [] as number[], new: [] as number[] }
  let row = 0
  let column = 0
  while (row < old.length && column < now.length) {
    if (old[row] === now[column]) {
      kept.old.push(row++)
      kept.new.push(column++)
    } else if (at(row + 1, column) >= at(row, column + 1)) row += 1
    else column += 1
  }
  return kept
}

function rangesWithout(words: string[], kept: Set<number>): Range[] {
  const ranges: Range[] = []
  let at = 0
  words.forEach((word, place) => {
    const last = ranges.at(-1)
    if (!kept.has(place)) {
      if (last?.end === at) last.end = at + word.length
      else ranges.push({ start: at, end: at + word.length })
    }
    at += word.length
  })
  return ranges
}
