/** One timer for every relative time on the page: runs only while somebody looks. */
const listeners = new Set<() => void>()
let timer: ReturnType<typeof setInterval> | undefined
let now = Date.now()

const every = 10_000

export function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  if (timer === undefined) {
    tick()
    timer = setInterval(tick, every)
  }
  return () => {
    listeners.delete(listener)
    if (listeners.size > 0) return
    clearInterval(timer)
    timer = undefined
  }
}

/** Milliseconds, as of the last tick. */
export function currentTime(): number {
  if (timer === undefined && Date.now() - now > every) now = Date.now()
  return now
}

function tick(): void {
  now = Date.now()
  for (const listener of listeners) listener()
}
