/**
 * What time it is at the server. Moments that it tells (when something was said, when it tries again) are counted from its
 * clock, so that a browser whose own is wrong shows the same as any other. Every answer says the time, cut to a second.
 */

/** How much the server's clock is ahead of this one's, in milliseconds: somewhere between the two. */
export interface Bounds {
  readonly low: number
  readonly high: number
}

const second = 1000

/** Of one answer: its date was right at some moment between `asked` and `came`. */
export function boundsOf(date: number, asked: number, came: number): Bounds {
  return { low: date - came, high: date + second - asked }
}

/** What all answers say together. When they contradict each other, one of the clocks was set: the newest answer is right. */
export function narrowed(known: Bounds | null, newer: Bounds): Bounds {
  if (known === null) return newer
  const both = { low: Math.max(known.low, newer.low), high: Math.min(known.high, newer.high) }
  return both.low > both.high ? newer : both
}

/** A clock that may be right is taken for right. */
export function offsetOf({ low, high }: Bounds): number {
  return low <= 0 && high >= 0 ? 0 : Math.round((low + high) / 2)
}

let known: Bounds | null = null

/** `date` is the header of an answer. */
export function hearTime(date: string | null, asked: number, came: number): void {
  const told = Date.parse(date ?? "")
  if (!Number.isNaN(told)) known = narrowed(known, boundsOf(told, asked, came))
}

/** As `Date.now`, by the server's clock. */
export function serverNow(): number {
  return Date.now() + (known === null ? 0 : offsetOf(known))
}
