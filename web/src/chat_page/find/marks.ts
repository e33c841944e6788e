/** Marks on the page what is looked for, without touching it: the rows stay as React made them. */
import { rangesIn, saidSelector } from "./places"
import type { Hit } from "./use_found"

const all = "found"
const current = "found-now"

/** Keeps the marks right while rows come and go. Gives what ends it. */
export function keepMarked(log: Element, words: string, now: Hit | null): () => void {
  let frame = 0
  const draw = () => {
    frame = 0
    mark(log, words, now)
  }
  const observer = new MutationObserver(() => (frame ||= requestAnimationFrame(draw)))
  observer.observe(log, { childList: true, subtree: true, characterData: true })
  draw()
  return () => {
    observer.disconnect()
    cancelAnimationFrame(frame)
    CSS.highlights.delete(all)
    CSS.highlights.delete(current)
  }
}

function mark(log: Element, words: string, now: Hit | null): void {
  const chosen = now && rangeOf(log, words, now)
  CSS.highlights.set(all, new Highlight(...[...log.querySelectorAll(saidSelector)].flatMap((said) => rangesIn(said, words))))
  if (!chosen) return void CSS.highlights.delete(current)
  const highlight = new Highlight(chosen)
  highlight.priority = 1
  CSS.highlights.set(current, highlight)
}

/** Where a hit is, if its message is drawn. What is written and what is shown may differ by a mark or two: then the nearest. */
export function rangeOf(log: Element, words: string, { messageId, nth }: Hit): Range | null {
  const ranges = [...log.querySelectorAll(`[data-message="${messageId}"] ${saidSelector}`)].flatMap((said) => rangesIn(said, words))
  return ranges[nth] ?? ranges.at(-1) ?? null
}
