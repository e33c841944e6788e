/** The answer that is being written: parts in the order in which they came, pieces of one text joined. */
import type { LivePart, LivePiece, ToolOutput } from "../api/events"

export type LiveEntry = Exclude<LivePiece, ToolOutput> & { readonly role: string }

export function isToolOutput(piece: LivePiece): piece is ToolOutput {
  return "result_delta" in piece
}

/** `parts` is changed: it belongs to the batch that is being applied. */
export function addPart(parts: LiveEntry[], from: LivePart, piece: Exclude<LivePiece, ToolOutput>): void {
  const entry: LiveEntry = { role: from.role ?? "assistant", ...piece }
  const last = parts.at(-1)
  const joined = last && joinedWith(last, entry)
  if (joined) parts[parts.length - 1] = joined
  else parts.push(entry)
}

/** One text of two pieces; null when they are not neighbours in one. */
function joinedWith(last: LiveEntry, next: LiveEntry): LiveEntry | null {
  if ("text" in last && "text" in next) return isSameBut("text", last, next) ? { ...last, text: last.text + next.text } : null
  if ("args_delta" in last && "args_delta" in next) {
    return isSameBut("args_delta", last, next) ? { ...last, args_delta: last.args_delta + next.args_delta } : null
  }
  return null
}

function isSameBut(field: string, one: LiveEntry, other: LiveEntry): boolean {
  const mine = new Map(Object.entries(one))
  const theirs = Object.entries(other)
  return mine.size === theirs.length && theirs.every(([name, value]) => name === field || mine.get(name) === value)
}
