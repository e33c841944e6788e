/**
 * Asking until an answer comes. For what can be asked twice and is done once. Who is signed out meanwhile is asked to sign
 * in by the page: unless the tries are counted, that is waited for.
 */
import { backoffMs } from "../api/backoff"
import { Refused, Unreachable } from "../api/request"
import type { Surroundings } from "../api/surroundings"

export interface Insisting {
  readonly around: Surroundings
  /** No answer came; it is tried again. */
  readonly onUnanswered?: () => void
  /** After so many tries the failure is the answer. */
  readonly most?: number
  readonly signal?: AbortSignal
}

export async function insist<T>(ask: () => Promise<T>, { around, onUnanswered, most = Infinity, signal }: Insisting): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await ask()
    } catch (error) {
      const waitMs = retryMs(error)
      const isSignedOut = error instanceof Refused && error.status === 401 && most === Infinity
      if ((waitMs === null && !isSignedOut) || attempt >= most || signal?.aborted) throw error
      onUnanswered?.()
      await pause(waitMs === null ? null : Math.max(waitMs, backoffMs(attempt, () => around.random())), around, signal)
      if (signal?.aborted) throw error
    }
  }
}

/** At least how long to wait; null: it was an answer. A proxy answers in the server's place while that restarts. */
function retryMs(error: unknown): number | null {
  if (error instanceof Unreachable) return 0
  if (error instanceof Refused && [502, 503, 504].includes(error.status)) return (error.retryAfter ?? 0) * 1000
  return null
}

/** Ends early when the network is back, and with null only when someone has signed in. */
function pause(ms: number | null, around: Surroundings, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      for (const end of ends) end()
      signal?.removeEventListener("abort", done)
      resolve()
    }
    const ends = [around.on("signed-in", done), ...(ms === null ? [] : [around.after(ms, done), around.on("online", done)])]
    signal?.addEventListener("abort", done)
  })
}
