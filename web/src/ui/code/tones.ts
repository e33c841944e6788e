/** Code as lines of pieces, each with a tone. The lexers know a hundred scopes; the eye needs five. */
export type Tone = "keyword" | "string" | "number" | "title" | "comment"

export interface Piece {
  text: string
  tone: Tone | null
}

export type Line = readonly Piece[]

const tones: Record<string, Tone> = {
  keyword: "keyword",
  built_in: "keyword",
  type: "keyword",
  literal: "number",
  "selector-tag": "keyword",
  "selector-pseudo": "keyword",
  "variable.language": "keyword",
  string: "string",
  regexp: "string",
  addition: "string",
  char: "string",
  "meta.string": "string",
  link: "string",
  number: "number",
  symbol: "number",
  bullet: "number",
  deletion: "number",
  title: "title",
  section: "title",
  name: "title",
  tag: "title",
  attr: "title",
  attribute: "title",
  "selector-class": "title",
  "selector-id": "title",
  comment: "comment",
  quote: "comment",
  meta: "comment",
  doctag: "comment",
}

export function toneOf(scope: string): Tone | null {
  return tones[scope] ?? tones[scope.split(".")[0] ?? ""] ?? null
}

/** Pieces cut at the ends of lines. */
export function linesOf(pieces: Iterable<Piece>): Line[] {
  const lines: Piece[][] = [[]]
  for (const { text, tone } of pieces) {
    text.split("\n").forEach((part, place) => {
      if (place > 0) lines.push([])
      if (part !== "") lines.at(-1)?.push({ text: part, tone })
    })
  }
  return lines
}

export function plainLines(code: string): Line[] {
  return code.split("\n").map((text) => (text === "" ? [] : [{ text, tone: null }]))
}
