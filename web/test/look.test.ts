/**
 * The rules of the look, held against the code: colours and sizes only in the tokens, classes that are used, sentences only in
 * words, nothing that the page's policy forbids.
 */
import { readdirSync, readFileSync } from "node:fs"
import { dirname, join, relative, resolve } from "node:path"
import { parseAst } from "vite"
import { describe, expect, it } from "vitest"

const root = resolve(import.meta.dirname, "..")
const source = join(root, "src")

const paths = readdirSync(source, { recursive: true, withFileTypes: true })
  .filter((entry) => entry.isFile())
  .map((entry) => join(entry.parentPath, entry.name))
const named = (pattern: RegExp) => paths.filter((path) => pattern.test(path))
const textOf = (path: string) => readFileSync(path, "utf8")
const nameOf = (path: string) => relative(root, path)

const sheets = named(/\.css$/).filter((path) => !path.endsWith("ui/tokens.css"))
const modules = named(/\.module\.css$/)
const code = named(/\.tsx?$/).filter((path) => !/\.(test|stories)\.tsx?$|\.d\.ts$|\/testing\//.test(path))
const pages = code.filter((path) => path.endsWith(".tsx"))

/** Comments and strings of a style sheet say nothing about its colours. */
function rules(path: string): string {
  return textOf(path).replace(/\/\*[\s\S]*?\*\//g, "")
}

function linesWith(pattern: RegExp, text: string): string[] {
  return text.split("\n").flatMap((line, place) => (pattern.test(line) ? [`${place + 1}: ${line.trim()}`] : []))
}

describe.each(sheets.map(nameOf))("%s", (name) => {
  const text = rules(join(root, name))

  it("takes its colours from the tokens", () => {
    const colour = /:[^;{]*(#[\da-f]{3,8}\b|\b(?:rgb|rgba|hsl|hsla|hwb|lab|lch|oklab|oklch|color)\()/i
    const property = "(?:color|background(?:-color)?|border(?:-\\w+)?(?:-color)?|outline|fill|stroke)"
    const namedColour = new RegExp(`^\\s*${property}:[^;]*\\b(?:white|black|red|green|blue|gray|grey|orange|yellow)\\b`)
    expect([...linesWith(colour, text), ...linesWith(namedColour, text)]).toEqual([])
  })

  it("takes its sizes of type from the tokens", () => {
    const sizes = linesWith(/^\s*font-size:/, text).filter((line) => !/font-size: (?:var\(--size-\d+\)|inherit|0\.9em)/.test(line))
    const fonts = linesWith(/^\s*font:/, text).filter((line) => !/font: (?:inherit|.*var\(--size-\d+\).*)/.test(line))
    const weights = linesWith(/^\s*font-weight:/, text).filter((line) => !/var\(--(?:regular|strong)\)|inherit/.test(line))
    expect([...sizes, ...fonts, ...weights]).toEqual([])
  })
})

describe("code", () => {
  it("names no colours", () => {
    const literal = /["'`](?:#[\da-f]{3,8}|(?:rgb|hsl|oklch)a?\([^"'`]*\))["'`]/i
    expect(code.flatMap((path) => linesWith(literal, textOf(path)).map((line) => `${nameOf(path)}:${line}`))).toEqual([])
  })
})

describe("the page's policy", () => {
  const markup = "dangerouslySetInnerHTML|\\.(?:inner|outer)HTML\\b|insertAdjacentHTML|<style\\b"
  const forbidden = new RegExp(`${markup}|\\beval\\(|new Function\\(|setAttribute\\("style"|\\.cssText\\b`)
  const allowed = new Set(["src/ui/markdown/Formula.tsx"])

  it("is kept: no markup, styles or code from strings, but for formulas", () => {
    const held = code.filter((path) => !allowed.has(nameOf(path)))
    expect(held.flatMap((path) => linesWith(forbidden, textOf(path)).map((line) => `${nameOf(path)}:${line}`))).toEqual([])
  })
})

describe("classes", () => {
  interface Use {
    path: string
    variable: string
    sheet: string
    text: string
  }

  const uses = [...code, ...named(/\.stories\.tsx$/)].flatMap((path): Use[] => {
    const text = textOf(path)
    return [...text.matchAll(/import (\w+) from "(\.[^"]+\.module\.css)"/g)].map(([, variable = "", from = ""]) => ({
      path,
      variable,
      sheet: join(dirname(path), from),
      text,
    }))
  })

  const classesOf = (sheet: string) => new Set([...rules(sheet).matchAll(/\.([a-zA-Z][\w-]*)(?=[^{}]*\{)/g)].map((match) => match[1] ?? ""))

  it.each(modules.map(nameOf))("of %s are used", (name) => {
    const sheet = join(root, name)
    const texts = uses.filter((use) => use.sheet === sheet)
    // `css[kind]`: the values of the type may be written in another file.
    const isTyped = texts.some((use) => new RegExp(`\\b${use.variable}\\[[^"\\]]`).test(use.text))
    const searched = isTyped ? code.map(textOf) : texts.map((use) => use.text)
    const isUsed = (one: string) => searched.some((text) => text.includes(`"${one}"`) || text.includes(`${one}: "`))
    expect([...classesOf(sheet)].filter((one) => !isUsed(one))).toEqual([])
  })

  it("that are used are there", () => {
    const missing = uses.flatMap((use) => {
      const known = classesOf(use.sheet)
      const taken = [...use.text.matchAll(new RegExp(`\\b${use.variable}\\["([\\w-]+)"\\]`, "g"))]
      return taken.flatMap(([, one = ""]) => (known.has(one) ? [] : [`${nameOf(use.path)}: ${one}`]))
    })
    expect(missing).toEqual([])
  })
})

describe("sentences", () => {
  const isRead = new Set([
    ..."aria-label aria-description title placeholder label alt".split(" "),
    ..."name text summary caption hint unit heading".split(" "),
  ])
  const isWord = /[A-Za-z]{2,}/

  /** Words that are written where they are shown: between tags, or given to what people see or hear. */
  function literals(text: string): string[] {
    const found: string[] = []
    const visit = (node: unknown): void => {
      if (Array.isArray(node)) node.forEach(visit)
      else if (isNode(node)) {
        if (node.type === "JSXText" && isWord.test(String(node["value"]))) found.push(String(node["value"]).trim())
        if (node.type === "JSXExpressionContainer" && isNode(node["expression"])) found.push(...shownIn(node["expression"]))
        if (node.type === "JSXAttribute") visitAttribute(node)
        else Object.values(node).forEach(visit)
      }
    }
    /** What an attribute that nobody reads is given may still have other tags inside. */
    const visitAttribute = (node: Node): void => {
      found.push(...given(node))
      if (isRead.has(attributeName(node))) visit(node["value"])
      else if (isNode(node["value"])) visit(node["value"]["expression"])
    }
    visit(parseAst(text, { lang: "tsx" }))
    return found
  }

  function attributeName(node: Node): string {
    return isNode(node["name"]) ? String(node["name"]["name"]) : ""
  }

  function given(attribute: Node): string[] {
    const name = attributeName(attribute)
    const text = isNode(attribute["value"]) ? valueOf(attribute["value"]) : ""
    // The name of a field of a form is not read by people: it has no space and no capital.
    return isRead.has(name) && isWord.test(text) && !(name === "name" && /^[a-z_]+$/.test(text)) ? [text] : []
  }

  /** A string in braces, or at the ends of a choice. */
  function shownIn(expression: Node): string[] {
    if (expression.type === "ConditionalExpression") return [expression["consequent"], expression["alternate"]].filter(isNode).flatMap(shownIn)
    const text = valueOf(expression)
    return /^[A-Z].*[a-z]{2}|[a-z]{2,} [a-z]{2,}/.test(text) ? [text] : []
  }

  function valueOf(node: Node): string {
    return node.type === "Literal" && typeof node["value"] === "string" ? node["value"] : ""
  }

  it("are in words", () => {
    const found = pages.flatMap((path) => literals(textOf(path)).map((one) => `${nameOf(path)}: ${one}`))
    expect(found).toEqual([])
  })

  it.each([
    ['<p className="x y">Nothing is here</p>', ["Nothing is here"]],
    ["<Button kind={kind}>Save</Button>", ["Save"]],
    ['<input aria-label="Your name" />', ["Your name"]],
    ['<p>{isOn ? "It is on" : words.off}</p>', ["It is on"]],
    ['<Tag title={isOn ? "It is on" : words.off} />', ["It is on"]],
    ['<p>{words.common.save} · {css["name"]}</p>', []],
    ['<input name="user" autoComplete="current-password" />', []],
    ['<div onClick={() => set("some value")} className={on ? "Big one" : "b"}>{list.map((one) => <i key="A key">{one}</i>)}</div>', []],
  ])("would be found in %s", (text, expected) => expect(literals(`const x = ${text}`)).toEqual(expected))
})

type Node = { type: string; [key: string]: unknown }

function isNode(value: unknown): value is Node {
  return typeof value === "object" && value !== null && "type" in value
}
