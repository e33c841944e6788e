import { readFileSync } from "node:fs"
import { describe, expect, it } from "vitest"

const source = readFileSync(new URL("./tokens.css", import.meta.url), "utf8")

type Theme = "light" | "dark"

/** Luminances by name, as WCAG counts them. */
function colours(theme: Theme): Map<string, number> {
  const found = new Map<string, number>()
  for (const [, name, light, dark] of source.matchAll(/--([\w-]+): light-dark\(oklch\(([^)]*)\), oklch\(([^)]*)\)\)/g)) {
    const value = theme === "light" ? light : dark
    if (name === undefined || value === undefined || value.includes("/")) continue
    const [lightness = 0, chroma = 0, hue = 0] = value.split(" ").map(Number)
    found.set(name, luminance(lightness, chroma, hue))
  }
  return found
}

/** OKLCH → linear sRGB → luminance; what no screen can show is cut off. */
function luminance(lightness: number, chroma: number, hue: number): number {
  const a = chroma * Math.cos((hue * Math.PI) / 180)
  const b = chroma * Math.sin((hue * Math.PI) / 180)
  const l = (lightness + 0.3963377774 * a + 0.2158037573 * b) ** 3
  const m = (lightness - 0.1055613458 * a - 0.0638541728 * b) ** 3
  const s = (lightness - 0.0894841775 * a - 1.291485548 * b) ** 3
  const red = 4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s
  const green = -1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s
  const blue = -0.0041960863 * l - 0.7034186147 * m + 1.707614701 * s
  const within = (part: number) => Math.min(1, Math.max(0, part))
  return 0.2126 * within(red) + 0.7152 * within(green) + 0.0722 * within(blue)
}

function contrast(theme: Theme, one: string, other: string): number {
  const known = colours(theme)
  const [a, b] = [known.get(one), known.get(other)]
  if (a === undefined || b === undefined) throw new Error(`no colour ${a === undefined ? one : other}`)
  return (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05)
}

const grounds = ["bg", "surface", "raised", "hover"]
const code = ["code-keyword", "code-string", "code-number", "code-title", "code-comment"]
const changed = ["diff-add", "diff-del", "diff-add-word", "diff-del-word"]

/** Words and what they stand on. */
const texts: [string[], string[]][] = [
  [["text", "muted", "accent-text", "ok", "warn", "error"], grounds],
  [["on-accent"], ["accent", "accent-hover"]],
  [["text", "muted", "accent-text", "ok", "error"], ["accent-soft"]],
  [["text", "ok"], ["ok-soft"]],
  [["text", "warn"], ["warn-soft"]],
  [["text", "error"], ["error-soft"]],
  [["text"], ["mark", ...changed]],
  [code, ["bg", "surface", "hover", ...changed]],
  [["muted", "ok"], ["diff-add"]],
  [["muted", "error"], ["diff-del"]],
]

/** Lines that show where something is, and marks of charts: 3 is enough. */
const marks: [string[], string[]][] = [
  [["border-strong", "accent"], ["bg", "surface", "raised"]],
  [["series-1", "series-2", "series-3", "series-4", "series-5", "series-6"], ["bg"]],
]

function pairs(all: [string[], string[]][]): [string, string][] {
  return all.flatMap(([fronts, backs]) => fronts.flatMap((front) => backs.map((back): [string, string] => [front, back])))
}

describe.each<Theme>(["light", "dark"])("in %s", (theme) => {
  it.each(pairs(texts))("%s can be read on %s", (front, back) => expect(contrast(theme, front, back)).toBeGreaterThanOrEqual(4.5))
  it.each(pairs(marks))("%s can be seen on %s", (front, back) => expect(contrast(theme, front, back)).toBeGreaterThanOrEqual(3))
})

it("has every colour for both themes", () => {
  const declared = [...source.matchAll(/^ {2}--[\w-]+:.*oklch.*$/gm)].map((match) => match[0])
  expect(declared.filter((line) => !line.includes("light-dark("))).toEqual([])
})
