/** JSON that is still being written, read as far as it goes: so that a path or a command shows before its call is whole. */

const deepest = 128
const nothing = Symbol("nothing")

/** The value that the text begins, without what can't be known yet; undefined when that is nothing. Never throws. */
export function partialJson(text: string): unknown {
  const value = new Reader(text).value(0)
  return value === nothing ? undefined : value
}

class Reader {
  private readonly text: string
  private at = 0

  constructor(text: string) {
    this.text = text
  }

  value(depth: number): unknown {
    this.space()
    const first = this.text[this.at]
    if (first === undefined || depth > deepest) return this.end()
    if (first === "{") return this.object(depth)
    if (first === "[") return this.array(depth)
    if (first === '"') return this.string()
    return this.word()
  }

  private object(depth: number): unknown {
    const entries: [string, unknown][] = []
    this.at++
    while (this.more("}")) {
      if (this.text[this.at] !== '"') return this.ended(entries)
      const key = this.string()
      this.space()
      if (this.text[this.at] !== ":") return this.ended(entries)
      this.at++
      const value = this.value(depth + 1)
      if (value === nothing) return this.ended(entries)
      entries.push([key, value])
    }
    return Object.fromEntries(entries)
  }

  private array(depth: number): unknown {
    const items: unknown[] = []
    this.at++
    while (this.more("]")) {
      const value = this.value(depth + 1)
      if (value === nothing) break
      items.push(value)
    }
    return items
  }

  /** Whether another member begins here; the bracket that ends them all is passed. */
  private more(closing: string): boolean {
    this.space()
    if (this.text[this.at] === ",") this.at++
    this.space()
    if (this.at >= this.text.length) return false
    if (this.text[this.at] !== closing) return true
    this.at++
    return false
  }

  private string(): string {
    const begin = ++this.at
    for (;;) {
      const found = this.next(/["\\]/g)
      if (found === null) return this.cutString(begin, this.text.length)
      this.at = found
      if (this.text[this.at] === '"') return unquoted(this.text.slice(begin, this.at++))
      const length = this.text[this.at + 1] === "u" ? 6 : 2
      if (this.at + length > this.text.length) return this.cutString(begin, this.at)
      this.at += length
    }
  }

  /** Half an escape, or half a character that takes two, is left out. */
  private cutString(begin: number, end: number): string {
    this.end()
    const read = unquoted(this.text.slice(begin, end))
    return /[\ud800-\udbff]$/.test(read) ? read.slice(0, -1) : read
  }

  private word(): unknown {
    const word = /^[^\s,\]}]*/.exec(this.text.slice(this.at, this.at + 400))?.[0] ?? ""
    this.at += word.length
    if (word === "true") return true
    if (word === "false") return false
    if (word === "null") return null
    const number = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/.exec(word)?.[0]
    return number === undefined ? this.end() : Number(number)
  }

  private next(pattern: RegExp): number | null {
    pattern.lastIndex = this.at
    return pattern.exec(this.text)?.index ?? null
  }

  private space(): void {
    while (/\s/.test(this.text[this.at] ?? "")) this.at++
  }

  private ended(entries: [string, unknown][]): unknown {
    this.end()
    return Object.fromEntries(entries)
  }

  private end(): typeof nothing {
    this.at = this.text.length
    return nothing
  }
}

function unquoted(inner: string): string {
  if (!inner.includes("\\")) return inner
  try {
    const value: unknown = JSON.parse(`"${inner}"`)
    return typeof value === "string" ? value : inner
  } catch {
    return inner
  }
}
