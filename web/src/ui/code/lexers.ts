/** The languages that are coloured. A chunk of its own: loaded when the first code is shown. */
import hljs from "highlight.js/lib/core"
import type { Emitter, LanguageFn } from "highlight.js"
import bash from "highlight.js/lib/languages/bash"
import c from "highlight.js/lib/languages/c"
import cpp from "highlight.js/lib/languages/cpp"
import csharp from "highlight.js/lib/languages/csharp"
import css from "highlight.js/lib/languages/css"
import diff from "highlight.js/lib/languages/diff"
import dockerfile from "highlight.js/lib/languages/dockerfile"
import go from "highlight.js/lib/languages/go"
import graphql from "highlight.js/lib/languages/graphql"
import ini from "highlight.js/lib/languages/ini"
import java from "highlight.js/lib/languages/java"
import javascript from "highlight.js/lib/languages/javascript"
import json from "highlight.js/lib/languages/json"
import kotlin from "highlight.js/lib/languages/kotlin"
import lua from "highlight.js/lib/languages/lua"
import makefile from "highlight.js/lib/languages/makefile"
import markdown from "highlight.js/lib/languages/markdown"
import nix from "highlight.js/lib/languages/nix"
import php from "highlight.js/lib/languages/php"
import python from "highlight.js/lib/languages/python"
import ruby from "highlight.js/lib/languages/ruby"
import rust from "highlight.js/lib/languages/rust"
import scss from "highlight.js/lib/languages/scss"
import sql from "highlight.js/lib/languages/sql"
import swift from "highlight.js/lib/languages/swift"
import typescript from "highlight.js/lib/languages/typescript"
import xml from "highlight.js/lib/languages/xml"
import yaml from "highlight.js/lib/languages/yaml"
import { type Line, linesOf, type Piece, type Tone, toneOf } from "./tones"

const languages: Record<string, LanguageFn> = {
  bash,
  c,
  cpp,
  csharp,
  css,
  diff,
  dockerfile,
  go,
  graphql,
  ini,
  java,
  javascript,
  json,
  kotlin,
  lua,
  makefile,
  markdown,
  nix,
  php,
  python,
  ruby,
  rust,
  scss,
  sql,
  swift,
  typescript,
  xml,
  yaml,
}

/** Collects pieces instead of writing HTML. */
class Pieces implements Emitter {
  readonly pieces: Piece[] = []
  private readonly open: (Tone | null)[] = [null]

  addText(text: string): void {
    if (text !== "") this.pieces.push({ text, tone: this.open.at(-1) ?? null })
  }

  startScope(scope: string): void {
    this.open.push(toneOf(scope) ?? this.open.at(-1) ?? null)
  }

  endScope(): void {
    this.open.pop()
  }

  // The library's own lexer still calls the two by their older names.
  openNode(scope: string): void {
    this.startScope(scope)
  }

  closeNode(): void {
    this.endScope()
  }

  __addSublanguage(other: Emitter): void {
    if (other instanceof Pieces) this.pieces.push(...other.pieces)
  }

  finalize(): void {}

  toHTML(): string {
    return ""
  }
}

for (const [name, language] of Object.entries(languages)) hljs.registerLanguage(name, language)
hljs.configure({ __emitter: Pieces })

export function coloured(code: string, language: string): Line[] | null {
  if (!hljs.getLanguage(language)) return null
  const emitter = hljs.highlight(code, { language, ignoreIllegals: true })._emitter
  return emitter instanceof Pieces ? linesOf(emitter.pieces) : null
}
