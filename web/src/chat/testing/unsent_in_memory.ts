/** What a browser would keep of sends, for tests: a page that is made anew on the same one is a reload. */
import type { Unsent, UnsentStore } from "../unsent"

export function unsentInMemory(): UnsentStore {
  const kept = new Map<string, Unsent>()
  const listeners = new Set<(key: string) => void>()
  return {
    all: () => [...kept.values()],
    keep: (one) => void kept.set(one.key, one),
    forget: (key) => {
      kept.delete(key)
      for (const listener of listeners) listener(key)
    },
    onForgotten: (run) => {
      listeners.add(run)
      return () => void listeners.delete(run)
    },
  }
}
