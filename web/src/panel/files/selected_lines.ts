/** Which lines of a file are selected with the pointer or the keyboard; line numbers carry `data-number`. */
export interface SelectedLines {
  first: number
  last: number
}

export function selectedLines(box: HTMLElement | null, selection: Selection | null): SelectedLines | null {
  if (!box || !selection || selection.isCollapsed || selection.rangeCount === 0) return null
  const range = selection.getRangeAt(0).cloneRange()
  if (!box.contains(range.startContainer)) return null
  // Three clicks into the last line reach into what comes after the file.
  if (!box.contains(range.endContainer)) range.setEnd(box, box.childNodes.length)
  // A selection often begins at the end of the line before, and ends at the beginning of the one after.
  const text = range.toString()
  const before = /^\n*/.exec(text)?.[0].length ?? 0
  const first = lineAt(box, range) + before
  return { first, last: first + text.trim().split("\n").length - 1 }
}

/** As many line ends as stand before the beginning. Numbers are drawn, not text. */
function lineAt(box: HTMLElement, range: Range): number {
  const number = box.querySelector<HTMLElement>("[data-number]")
  if (!number) return 1
  const above = document.createRange()
  above.setStartBefore(number)
  above.setEnd(range.startContainer, range.startOffset)
  return Number(number.dataset["number"]) + above.toString().split("\n").length - 1
}
