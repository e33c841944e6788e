import fc from "fast-check"
import { createElement } from "react"
import { renderToStaticMarkup } from "react-dom/server"
import { describe, expect, it } from "vitest"
import { type Blocks, blocksOf } from "./blocks"
import { decoded } from "./entities"
import { ownPicture, safeAddress } from "./links"
import { Markdown } from "./Markdown"

/** Every word is there once, so that a word that is shown twice is noticed. */
const long = `# Alpha one

Bravo **bold two** and *slanted three*, ~~gone four~~, \`code five\`, [link six](https://example.org/seven "eight") and https://example.net/nine.

## Charlie ten

- eleven
- twelve with [ref thirteen][here]
  - fourteen
    1. fifteen
    2. sixteen

- [ ] seventeen
- [x] **eighteen**

> Delta nineteen
> goes on *twenty*
>
> > twentyone

\`\`\`python
def echo(twentytwo):
    # twentythree [not a link](nowhere)
    return f"{twentyfour} **twentyfive**"
\`\`\`

| foxtrot | twentysix |
|:--------|----------:|
| golf    | \`twentyseven\` |
| hotel   | **twentyeight** |

India costs $5 and juliett $6, but $a_{twentynine}+b$ is math.

$$
\\sum_{kilo} thirty
$$

<div class="lima">thirtyone</div>

Mike ![thirtytwo](https://example.org/thirtythree.png) <b>thirtyfour</b> &amp; &lt;thirtyfive&gt;<br>november

Setext thirtysix
---

***

[here]: https://example.org/thirtyseven

1. oscar

   thirtyeight

   \`\`\`
   papa thirtynine
   \`\`\`
2. quebec
`

function shown(text: string, isStreaming: boolean): string {
  const markup = renderToStaticMarkup(createElement(Markdown, { text, isStreaming }))
  return decoded(markup.replace(/<figcaption[\s\S]*?<\/figcaption>/g, "").replace(/<[^>]*>/g, " "))
}

function timesIn(text: string): Map<string, number> {
  const times = new Map<string, number>()
  for (const word of text.match(/[a-z]+/gi) ?? []) times.set(word, (times.get(word) ?? 0) + 1)
  return times
}

describe("a text that is still coming", () => {
  it("shows nothing twice and does not throw, wherever it is cut", () => {
    for (let end = 0; end <= long.length; end += 5) {
      const text = long.slice(0, end)
      const written = timesIn(text)
      for (const [word, times] of timesIn(shown(text, true))) {
        if (["Image", "Done", "Open"].includes(word)) continue
        expect(times, `"${word}" in what is shown of …${text.slice(-40)}`).toBeLessThanOrEqual(written.get(word) ?? 0)
      }
    }
  }, 30_000)

  it("does not throw on anything", () => {
    const blocks = ["#", "- ", "1. ", "> ", "```", "\n", "\n\n", "    ", "|", "|-|", "$$", "\\[", "\\]", "[x]: y"]
    const inside = ["$", "*", "**", "_", "~~", "[", "](", ")", "![", "<", "<b>", "&#x0;", "\\", "a", "b c", "\r", "\t", "\0", "🙂"]
    const bits = [...blocks, ...inside]
    fc.assert(
      fc.property(fc.array(fc.constantFrom(...bits), { maxLength: 40 }), fc.boolean(), (parts, isStreaming) => {
        shown(parts.join(""), isStreaming)
      }),
      { numRuns: 500 },
    )
  })

  it("is split the same whether it comes at once or in pieces", () => {
    fc.assert(
      fc.property(fc.array(fc.nat(long.length), { maxLength: 30 }), (cuts) => {
        let known: Blocks | undefined
        for (const cut of [...cuts.sort((a, b) => a - b), long.length]) known = blocksOf(long.slice(0, cut), known)
        expect(known?.blocks.map(({ raw, level }) => [raw, level])).toEqual(blocksOf(long).blocks.map(({ raw, level }) => [raw, level]))
        expect(known?.definitions).toBe("[here]: https://example.org/thirtyseven")
      }),
    )
  })

  it("keeps the blocks before the last", () => {
    const before = blocksOf("one\n\ntwo\n\nthr")
    const after = blocksOf("one\n\ntwo\n\nthree", before)
    expect(after.blocks[0]).toBe(before.blocks[0])
    expect(after.blocks[1]).toBe(before.blocks[1])
    expect(after.blocks[2]).not.toBe(before.blocks[2])
    expect(blocksOf("one\n\ntwo\n\nthree", after)).toBe(after)
  })
})

describe("headings", () => {
  it("leave no level out", () => {
    const levels = (text: string) => blocksOf(text).blocks.map((block) => block.level)
    expect(levels("### a\n# b\n#### c\n## d\n")).toEqual([1, 1, 2, 2])
    expect(levels("# a\n\ntext\n\n###### b\n")).toEqual([1, null, 2])
  })
})

describe("links", () => {
  it.each(["javascript:alert(1)", "JaVaScRiPt:x", "data:text/html,x", "vbscript:x", "file:///etc", "/relative", "#x", "", "blob:x"])("%s leads nowhere", (href) =>
    expect(safeAddress(href)).toBeNull(),
  )
  it.each(["https://a.b/c?d=e", "http://a.b", "mailto:x@y.z"])("%s leads there", (href) => expect(safeAddress(href)).not.toBeNull())

  it("are inert in the page when they are not allowed", () => {
    const markup = renderToStaticMarkup(createElement(Markdown, { text: "[a](javascript:alert(1)) ![b](javascript:alert(1)) <javascript:alert(1)>" }))
    expect(markup).not.toContain("href")
    expect(markup).not.toContain("<img")
  })

  it("open a new tab without a way back", () => {
    const markup = renderToStaticMarkup(createElement(Markdown, { text: "[a](https://b.c)" }))
    expect(markup).toContain('target="_blank"')
    expect(markup).toContain('rel="noopener noreferrer"')
  })

  it("replace pictures from elsewhere", () => {
    expect(ownPicture("https://elsewhere.example/x.png")).toBeNull()
    expect(ownPicture("//elsewhere.example/x.png")).toBeNull()
    expect(ownPicture("/\\elsewhere.example/x.png")).toBeNull()
    expect(ownPicture("/api/files/1")).toBe("/api/files/1")
  })
})

describe("HTML", () => {
  it("is text", () => {
    const markup = renderToStaticMarkup(createElement(Markdown, { text: '<script>alert(1)</script>\n\na <img src=x onerror="alert(1)">' }))
    expect(markup).toContain("&lt;script&gt;")
    expect(markup).toContain("&lt;img src=x")
  })
})

describe("math", () => {
  function formulas(text: string): (string | undefined)[] {
    const markup = renderToStaticMarkup(createElement(Markdown, { text }))
    return [...markup.matchAll(/<code class="[^"]*(?:inline|block)[^"]*">(.*?)<\/code>/gs)].map((match) => match[1])
  }

  it.each([
    ["$x+1$", ["x+1"]],
    ["It costs $5 and $6.", []],
    ["$5 or 6$", ["5 or 6"]],
    ["$ 5 $", []],
    ["\\(a\\) and \\[b\\]", ["a"]],
    ["\\[\nb\n\\]", ["b"]],
    ["$$\na\nb\n$$\n\nc", ["a\nb"]],
    ["text $$x$$ text", ["x"]],
    ["`$x$`", []],
  ])("in %s", (text, expected) => expect(formulas(text)).toEqual(expected))
})
