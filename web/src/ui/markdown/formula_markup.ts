import katex from "katex"

const drawn = new Map<string, string | null>()
const remembered = 500

/** MathML for a formula, or null when it isn't one. */
export function mathMarkup(tex: string, isBlock: boolean): string | null {
  const key = `${isBlock ? "block" : "inline"} ${tex}`
  const known = drawn.get(key)
  if (known !== undefined) return known
  const markup = draw(tex, isBlock)
  if (drawn.size >= remembered) drawn.clear()
  drawn.set(key, markup)
  return markup
}

function draw(tex: string, isBlock: boolean): string | null {
  try {
    const bounds = { maxExpand: 500, maxSize: 20 }
    const markup = katex.renderToString(tex, { output: "mathml", displayMode: isBlock, throwOnError: true, strict: false, ...bounds })
    // The source is left out, or it would be read and copied twice; styles are left out because the page's policy forbids them.
    return markup.replace(/<annotation[\s\S]*?<\/annotation>/g, "").replace(/ style="[^"]*"/g, "")
  } catch {
    return null
  }
}
