/** Characters that nobody sees and a model reads: zero-width ones, marks of direction, tags. */
const hidden = /[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180e\u200b\u200c\u200e\u200f\u202a-\u202e\u2060-\u206f\u3164\ufeff\uffa0]|\udb40[\udc00-\udfff]/g

export function countHidden(text: string): number {
  return text.match(hidden)?.length ?? 0
}

/** The joiner is left: emoji are made with it. */
export function withoutHidden(text: string): string {
  return text.replace(hidden, "")
}
