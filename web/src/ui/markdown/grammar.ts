/** Markdown as chats use it: GitHub's, with math between dollars or \( \) and \[ \]. */
import { Lexer, Marked, type MarkedToken, type Token, type TokenizerExtension, type TokensList } from "marked"

export interface MathToken {
  type: "math"
  raw: string
  tex: string
  isBlock: boolean
}

export function isMath(token: Token | MathToken): token is MathToken {
  return token.type === "math" && "tex" in token
}

/** One of the kinds that the library knows, told apart by `type`. */
export function isPlain(token: Token | MathToken): token is MarkedToken {
  return token.type !== "math"
}

/** Dollars are also money: what stands between must touch both of them, and no digit may follow. */
const inline = /^\$(?!\s|\$)((?:\\.|[^\\$\n])+?)(?<!\s)\$(?![\d$])|^\\\(((?:(?!\\\))[^\n])+?)\\\)/
const block = /^\$\$((?:(?!\$\$)[\s\S])+?)\$\$[ \t]*(?:\n|$)|^\\\[((?:(?!\\\])[\s\S])+?)\\\][ \t]*(?:\n|$)/
const displayed = /^\$\$((?:(?!\$\$)[\s\S])+?)\$\$/

function found(match: RegExpMatchArray | null, isBlock: boolean): MathToken | undefined {
  const tex = match?.[1] ?? match?.[2]
  return match && tex?.trim() ? { type: "math", raw: match[0], tex: tex.trim(), isBlock } : undefined
}

const blockMath: TokenizerExtension = {
  name: "math",
  level: "block",
  start: (text) => text.match(/(^|\n)(\$\$|\\\[)/)?.index,
  tokenizer: (text) => found(text.match(block), true),
}

const inlineMath: TokenizerExtension = {
  name: "inline_math",
  level: "inline",
  start: (text) => text.match(/\$|\\\(/)?.index,
  tokenizer: (text) => found(text.match(displayed), true) ?? found(text.match(inline), false),
}

const grammar = new Marked({ gfm: true, extensions: [blockMath, inlineMath] }).defaults

/** Where the blocks of a text begin and end; what is inside of them is not looked at. */
export function blockTokens(text: string): Token[] {
  const lexer = new Lexer(grammar)
  return lexer.blockTokens(text, lexer.tokens)
}

export function tokensOf(text: string): TokensList {
  return new Lexer(grammar).lex(text)
}
