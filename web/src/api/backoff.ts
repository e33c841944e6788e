/** How long to wait before the next try: twice as long each time, and not all clients at the same moment. */

const firstMs = 1_000
const longestMs = 30_000
const spread = 0.3

/** `attempt` counts from 1. `random` gives 0 to 1, as `Math.random` does. */
export function backoffMs(attempt: number, random: () => number = Math.random): number {
  const wait = Math.min(longestMs, firstMs * 2 ** Math.min(attempt - 1, 20))
  return Math.round(wait * (1 - spread + 2 * spread * random()))
}
