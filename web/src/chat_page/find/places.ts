/** Where a text is on the page: ranges of it in what was said, over the borders of bold and code, not over those of paragraphs. */

/** Elements whose text is what was said, and not what stands around it. */
export const saidSelector = "[data-said]"

const blocks = new Set(["P", "LI", "TD", "TH", "PRE", "DIV", "BLOCKQUOTE", "FIGURE", "H1", "H2", "H3", "H4", "H5", "H6", "BR"])

export function rangesIn(said: Element, words: string): Range[] {
  if (words === "") return []
  const nodes = textNodes(said)
  // A border that no words have, so that none are found across it.
  const text = nodes.map(({ node, isBlockBegun }) => (isBlockBegun ? `\u0000${node.data}` : node.data)).join("")
  const starts: number[] = []
  let length = 0
  for (const { node, isBlockBegun } of nodes) {
    length += isBlockBegun ? 1 : 0
    starts.push(length)
    length += node.length
  }
  const ranges: Range[] = []
  for (const { index, 0: found } of text.matchAll(new RegExp(escaped(words), "giu"))) {
    const range = document.createRange()
    const [from, to] = [nodeAt(starts, index), nodeAt(starts, index + found.length - 1)]
    const [first, last] = [nodes[from]?.node, nodes[to]?.node]
    if (!first || !last) continue
    range.setStart(first, index - (starts[from] ?? 0))
    range.setEnd(last, index + found.length - (starts[to] ?? 0))
    ranges.push(range)
  }
  return ranges
}

function textNodes(said: Element): { node: Text; isBlockBegun: boolean }[] {
  const walker = document.createTreeWalker(said, NodeFilter.SHOW_TEXT | NodeFilter.SHOW_ELEMENT, (node) =>
    node instanceof Element && node.matches("button, figcaption, [aria-hidden=true]") ? NodeFilter.FILTER_REJECT : NodeFilter.FILTER_ACCEPT,
  )
  const nodes: { node: Text; isBlockBegun: boolean }[] = []
  let block: Element | null = null
  while (walker.nextNode()) {
    const node = walker.currentNode
    if (!(node instanceof Text)) continue
    const own = blockOf(node)
    nodes.push({ node, isBlockBegun: nodes.length > 0 && own !== block })
    block = own
  }
  return nodes
}

function blockOf(node: Node): Element | null {
  let at = node.parentElement
  while (at && !blocks.has(at.tagName)) at = at.parentElement
  return at
}

/** The last that begins at or before a place. */
function nodeAt(starts: readonly number[], place: number): number {
  let low = 0
  let high = starts.length - 1
  while (low < high) {
    const middle = (low + high + 1) >>> 1
    if ((starts[middle] ?? 0) <= place) low = middle
    else high = middle - 1
  }
  return low
}

function escaped(words: string): string {
  return words.replace(/[\\^$.*+?()[\]{}|/-]/g, (sign) => (sign === "-" ? "\\x2d" : `\\${sign}`))
}
