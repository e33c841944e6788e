/** Whether there is room for one column only. */
import { useSyncExternalStore } from "react"

const query = typeof window === "undefined" ? null : window.matchMedia("(max-width: 767px)")

export function useIsNarrow(): boolean {
  return useSyncExternalStore(
    (changed) => {
      query?.addEventListener("change", changed)
      return () => query?.removeEventListener("change", changed)
    },
    () => query?.matches ?? false,
  )
}
