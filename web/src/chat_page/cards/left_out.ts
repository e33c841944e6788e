/** Where the server has left something out of a text, it says so in brackets (`core/cut.py`, `agent/processes/head_tail.py`). */
import { bytesText } from "../../ui/values/spans"
import { words } from "../../words"

const gap = /\n*\[(\d+) bytes are left out here[^\]\n]*\]\n*/g
const lineGap = / \.\.\. \[(\d+) bytes of this line are left out\]/g

/** The same text with those places set off, as a terminal would: its own colours end there. */
export function withGapsMarked(text: string): string {
  if (!text.includes("left out")) return text
  return text
    .replace(gap, (_, bytes: string) => `\n${marked(words.cards.gap(bytesText(Number(bytes))))}\n`)
    .replace(lineGap, (_, bytes: string) => ` ${marked(words.cards.lineGap(bytesText(Number(bytes))))}`)
}

function marked(note: string): string {
  return `\u001b[0m\u001b[7m ⋯ ${note} ⋯ \u001b[0m`
}
