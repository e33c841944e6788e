/** Earlier messages of one's own, in an empty composer: up goes back, down comes forward, typing stays where one is. */
import { useRef } from "react"

export interface History {
  /** What to show instead, or null when there is nothing further that way. */
  step(by: 1 | -1, now: string): string | null
  leave(): void
}

export function useHistory(prompts: readonly string[]): History {
  const place = useRef<{ at: number; before: string } | null>(null)
  return {
    step(by, now) {
      const at = (place.current?.at ?? -1) + by
      if (at < 0) {
        const before = place.current?.before ?? null
        place.current = null
        return before
      }
      const found = prompts[at]
      if (found === undefined) return null
      place.current = { at, before: place.current?.before ?? now }
      return found
    },
    leave() {
      place.current = null
    },
  }
}
