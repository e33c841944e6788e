/** Which lines of a file are selected with the pointer or the keyboard; line numbers carry `data-number`. */
export interface SelectedLines {
  first: number
  last: number
}

export function selectedLines(box: HTMLElement | null, selection: Selection | null): SelectedLines | null {
  if (!box || !selection || selection.isCollapsed || selection.rangeCount === 0) return null
  const range = selection.getRangeAt(0)
  if (!box.contains(range.commonAncestorContainer)) return null
  // A selection often begins at the end of the line before, and ends at the beginning of the one after.
  const text = range.toString()
  const before = /^\n*/.exec(text)?.[0].length ?? 0
  const first = lineAt(box, range) + before
  return { first, last: first + text.trim().split("\n").length - 1 }
}

/** The last number that stands before the beginning. */
function lineAt(box: HTMLElement, range: Range): number {
  const numbers = [...box.querySelectorAll<HTMLElement>("[data-number]")]
  return Number(numbers.findLast((number) => range.comparePoint(number, 0) < 0)?.dataset["number"] ?? 1)
}
