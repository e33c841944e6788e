import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { readAnsi } from "./ansi_pieces"
import { outputParts, shownParts } from "./output_parts"
import { languageOfFile } from "./languages"
import { coloured } from "./lexers"
import { linesOf, plainLines } from "./tones"

const text = (pieces: readonly { text: string }[]) => pieces.map((piece) => piece.text).join("")

const ansiPieces = (given: string) => readAnsi(given).pieces

describe("terminal output", () => {
  it("keeps colours and weight", () => {
    const [bold, red, plain] = ansiPieces("\u001b[1mbold\u001b[0;31mred\u001b[mplain")
    expect(bold).toMatchObject({ text: "bold", isBold: true, colour: null })
    expect(red).toMatchObject({ text: "red", isBold: false, colour: "red" })
    expect(plain).toMatchObject({ text: "plain", colour: null })
  })

  it.each([
    ["\u001b[2K\u001b[1Ga", "a"],
    ["\u001b]0;title\u0007a", "a"],
    ["\u001b]8;;https://x.y\u001b\\link\u001b]8;;\u001b\\", "link"],
    ["\u001b(Ba\u001b=", "a"],
    ["\u001b[?25la\u001b[?25h", "a"],
    ["50 %\r100 %\nnext", "100 %\nnext"],
    ["windows\r\nlines\r\n", "windows\nlines\n"],
    ["cut in the middle \u001b[3", "cut in the middle "],
    ["bell\u0007 and back\b", "bell and back"],
    ["tab\tstays", "tab\tstays"],
  ])("%j is shown as %j", (given, shown) => expect(text(ansiPieces(given))).toBe(shown))

  it.each([
    ["\u001b[38;5;196m", "red"],
    ["\u001b[38;5;12m", "blue"],
    ["\u001b[38;2;0;200;0m", "green"],
    ["\u001b[38:2:0:200:200m", "cyan"],
    ["\u001b[38;5;240m", null],
    ["\u001b[95m", "magenta"],
  ])("%j is %s", (code, colour) => expect(ansiPieces(`${code}x`)[0]?.colour).toBe(colour))

  it("has no control characters left, whatever comes", () => {
    const bits = fc.constantFrom("\u001b", "[", "]", "3", "1", ";", "m", "K", "\u0007", "\r", "\n", "a", "\u001b[31m", "\u001b\\", "?", "\u0000")
    fc.assert(
      // oxlint-disable-next-line no-control-regex
      fc.property(fc.array(bits), (parts) => !/[\u0000-\u0008\u000b-\u001f\u007f]/.test(text(ansiPieces(parts.join(""))))),
    )
  })
})

describe("long output", () => {
  const long = "\u001b[31m" + Array.from({ length: 350 }, (_, place) => `line ${place}`).join("\n")

  it("comes in parts that go on in the style of the one before", () => {
    const parts = outputParts(long)
    expect(parts.map((part) => part.text).join("")).toBe(long)
    expect(parts.length).toBe(4)
    expect(parts[2]?.start.colour).toBe("red")
  })

  it("keeps the parts that have not changed", () => {
    const before = outputParts(long)
    const after = outputParts(`${long}\nmore`, before)
    expect(after.slice(0, 3)).toEqual(before.slice(0, 3))
    expect(after[0]).toBe(before[0])
    expect(after[2]).toBe(before[2])
    expect(after[3]).not.toBe(before[3])
  })

  it("shows its end", () => {
    const parts = outputParts(long)
    const { shown, cut } = shownParts(parts, 1500)
    expect(shown.at(-1)).toBe(parts.at(-1))
    expect(cut + shown.reduce((sum, part) => sum + part.text.length, 0)).toBe(long.length)
    expect(shownParts(outputParts("x".repeat(50)), 20)).toMatchObject({ cut: 30, shown: [{ text: "x".repeat(20) }] })
    expect(shownParts(parts, 1_000_000)).toEqual({ shown: parts, cut: 0 })
  })
})

describe("coloured code", () => {
  it("is the code, line by line", () => {
    const code = 'def f(x):\n    """Two\n    lines."""\n    return x + 1  # sum\n'
    const lines = coloured(code, "python")
    expect(lines?.map(text).join("\n")).toBe(code)
    expect(lines?.[1]?.at(-1)?.tone).toBe("string")
    expect(lines?.[2]?.[0]?.tone).toBe("string")
    expect(lines?.[3]?.at(-1)).toEqual({ text: "# sum", tone: "comment" })
  })

  it("knows languages inside of languages", () => {
    const code = "<style>a { color: red }</style><script>let x = 1</script>"
    const lines = coloured(code, "html")
    expect(lines?.map(text).join("\n")).toBe(code)
    expect(lines?.flat().some((piece) => piece.text === "let" && piece.tone === "keyword")).toBe(true)
  })

  it("is left alone where the language is unknown", () => expect(coloured("x", "nobody")).toBeNull())

  it("keeps every character", () => {
    const languages = fc.constantFrom("python", "typescript", "bash", "xml", "yaml", "diff", "markdown", "json")
    fc.assert(fc.property(fc.string({ maxLength: 200 }), languages, (code, language) => coloured(code, language)?.map(text).join("\n") === code))
  })

  it("has a line for each line", () => {
    expect(plainLines("a\n\nb")).toHaveLength(3)
    expect(linesOf([{ text: "a\nb", tone: null }])).toHaveLength(2)
  })
})

describe("languages", () => {
  it.each([
    ["src/a.py", "python"],
    ["Dockerfile", "dockerfile"],
    ["a/b.test.tsx", "typescript"],
    ["README", undefined],
  ])("of %s is %s", (path, language) => expect(languageOfFile(path)).toBe(language))
})
