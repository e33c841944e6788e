/** Characters that nobody sees and a model reads: zero-width ones, marks of direction, tags. */
// Signs of format but for the joiner, which emoji are made with, and those of Arabic numbers, which are seen; fillers.
const hidden = /(?![\u200d\u0600-\u0605\u06dd\u070f])\p{Cf}|\u034f|\u115f|\u1160|\u17b4|\u17b5|\u3164|\uffa0/gu

export function countHidden(text: string): number {
  return text.match(hidden)?.length ?? 0
}

export function withoutHidden(text: string): string {
  return text.replace(hidden, "")
}
