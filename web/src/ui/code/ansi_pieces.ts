/** The output of a terminal as pieces: colours and weight are kept, everything that moves the cursor is left out. */
const colours = ["black", "red", "green", "yellow", "blue", "magenta", "cyan", "white"] as const
export type Colour = (typeof colours)[number]

export interface Style {
  colour: Colour | null
  isBold: boolean
  isDim: boolean
  isUnderlined: boolean
  /** Has a ground of its own; which colour it had is not kept. */
  isMarked: boolean
}

export interface AnsiPiece extends Style {
  text: string
}

export const plain: Style = { colour: null, isBold: false, isDim: false, isUnderlined: false, isMarked: false }

// Sequences of control: CSI (with its final letter), strings such as titles and links (OSC, DCS, PM, APC), and two-character ones.
// oxlint-disable-next-line no-control-regex
const sequence = /\u001b\[([\d;:?<=>!]*)[ -/]*([@-~])|\u001b[\]PX^_][\s\S]*?(?:\u0007|\u001b\\|$)|\u001b[@-Z\\-_=>78c]|\u001b[()*+][\s\S]?|\u001b\[?[\d;:?]*$/g

// oxlint-disable-next-line no-control-regex
const otherControls = /[\u0000-\u0008\u000b-\u001a\u001c-\u001f\u007f]/g

/** The pieces of a text that begins in some style, and the style that it ends in. */
export function readAnsi(text: string, start: Style = plain): { pieces: AnsiPiece[]; end: Style } {
  const pieces: AnsiPiece[] = []
  let style = start
  let at = 0
  const source = overwritten(text)
  for (const match of source.matchAll(sequence)) {
    add(pieces, source.slice(at, match.index), style)
    if (match[2] === "m") style = styled(style, match[1] ?? "")
    at = match.index + match[0].length
  }
  add(pieces, source.slice(at), style)
  return { pieces, end: style }
}

/** A line that was written over (progress) shows what was written last. */
function overwritten(text: string): string {
  if (!text.includes("\r")) return text
  return text
    .replace(/\r+\n/g, "\n")
    .split("\n")
    .map((line) => line.replace(/\r+$/, "").replace(/^[^]*\r/, ""))
    .join("\n")
}

function add(pieces: AnsiPiece[], text: string, style: Style): void {
  const clean = text.replace(otherControls, "").replaceAll("\u001b", "")
  if (clean !== "") pieces.push({ text: clean, ...style })
}

function styled(before: Style, codes: string): Style {
  const numbers = codes.split(/[;:]/).map(Number)
  let style = before
  for (let place = 0; place < numbers.length; place += 1) {
    const code = numbers[place] ?? 0
    if (code === 38 || code === 48) {
      const { colour, used } = extended(numbers.slice(place + 1))
      style = code === 38 ? { ...style, colour } : { ...style, isMarked: true }
      place += used
    } else style = changed(style, code)
  }
  return style
}

function changed(style: Style, code: number): Style {
  if (code === 0) return plain
  if (code === 1) return { ...style, isBold: true }
  if (code === 2) return { ...style, isDim: true }
  if (code === 4) return { ...style, isUnderlined: true }
  if (code === 7) return { ...style, isMarked: true }
  if (code === 22) return { ...style, isBold: false, isDim: false }
  if (code === 24) return { ...style, isUnderlined: false }
  if (code === 27 || code === 49) return { ...style, isMarked: false }
  if (code === 39) return { ...style, colour: null }
  if ((code >= 40 && code <= 47) || (code >= 100 && code <= 107)) return { ...style, isMarked: true }
  if (code >= 30 && code <= 37) return { ...style, colour: colours[code - 30] ?? null }
  if (code >= 90 && code <= 97) return { ...style, colour: colours[code - 90] ?? null }
  return style
}

/** `5;n` and `2;r;g;b` become the nearest of the eight. */
function extended([kind, ...rest]: number[]): { colour: Colour | null; used: number } {
  if (kind === 2) return { colour: nearest(rest[0] ?? 0, rest[1] ?? 0, rest[2] ?? 0), used: 4 }
  if (kind !== 5) return { colour: null, used: 1 }
  const index = rest[0] ?? 0
  if (index < 16) return { colour: colours[index % 8] ?? null, used: 2 }
  if (index >= 232) return { colour: null, used: 2 }
  const cube = index - 16
  const level = (step: number) => (step % 6) * 51
  return { colour: nearest(level(Math.floor(cube / 36)), level(Math.floor(cube / 6)), level(cube)), used: 2 }
}

function nearest(red: number, green: number, blue: number): Colour | null {
  const most = Math.max(red, green, blue)
  const least = Math.min(red, green, blue)
  if (most - least < 40) return null
  const middle = (most + least) / 2
  return colours[(red > middle ? 1 : 0) + (green > middle ? 2 : 0) + (blue > middle ? 4 : 0)] ?? null
}
