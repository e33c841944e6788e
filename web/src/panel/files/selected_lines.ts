/** Which lines of a file are selected with the pointer or the keyboard; line numbers carry `data-number`. */
export interface SelectedLines {
  first: number
  last: number
}

export function selectedLines(box: HTMLElement | null, selection: Selection | null): SelectedLines | null {
  if (!box || !selection || selection.isCollapsed || selection.rangeCount === 0) return null
  const range = selection.getRangeAt(0)
  if (!box.contains(range.commonAncestorContainer)) return null
  const numbers = [...box.querySelectorAll<HTMLElement>("[data-number]")]
  const lineAt = (node: Node, offset: number) => {
    const before = numbers.filter((number) => range.comparePoint(number, 0) < 0 || isBefore(number, node, offset))
    return Number(before.at(-1)?.dataset["number"] ?? 1)
  }
  return { first: lineAt(range.startContainer, range.startOffset), last: lineAt(range.endContainer, range.endOffset) }
}

function isBefore(number: HTMLElement, node: Node, offset: number): boolean {
  const point = document.createRange()
  point.setStart(node, offset)
  return point.comparePoint(number, 0) < 0
}
