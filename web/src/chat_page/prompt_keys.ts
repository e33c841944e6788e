import { type RefObject, useEffect } from "react"
import type { TimelineHandle } from "./Timeline"

/** Alt and an arrow go from one message of one's own to the next, also while something is being written. */
export function usePromptKeys(timeline: RefObject<TimelineHandle | null>): void {
  useEffect(() => {
    const pressed = (event: KeyboardEvent) => {
      const isPlain = event.altKey && !event.ctrlKey && !event.metaKey && !event.shiftKey
      if (!isPlain || event.defaultPrevented || (event.key !== "ArrowUp" && event.key !== "ArrowDown")) return
      // Behind a dialog, or the panel that was laid over it, nothing is to move.
      if (!timeline.current || timeline.current.log()?.closest("[inert], [aria-hidden=true]")) return
      event.preventDefault()
      void timeline.current.step(event.key === "ArrowUp" ? -1 : 1)
    }
    window.addEventListener("keydown", pressed)
    return () => window.removeEventListener("keydown", pressed)
  }, [timeline])
}
