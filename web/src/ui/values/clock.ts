/** One timer for every relative time on the page: runs only while somebody looks. */
let read = Date.now
const listeners = new Set<() => void>()
let timer: ReturnType<typeof setInterval> | undefined
let now = read()

const every = 10_000

/** What time it is, where that is not what this machine's clock says. */
export function readTimeFrom(source: () => number): void {
  read = source
  now = read()
}

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
  if (timer === undefined && Math.abs(read() - now) > every) now = read()
  return now
}

function tick(): void {
  now = read()
  for (const listener of listeners) listener()
}
