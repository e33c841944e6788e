import { useSyncExternalStore } from "react"
import { currentTime, subscribe } from "./clock"
import { exactText, relativeText } from "./spans"

/** How long ago, with the exact time on hover. Takes what the API sends, or milliseconds. */
export function RelativeTime({ at, className }: { at: string | number | Date; className?: string | undefined }) {
  const then = new Date(at).getTime()
  const text = useSyncExternalStore(subscribe, () => relativeText(then, currentTime()))
  if (Number.isNaN(then)) return null
  return (
    <time dateTime={new Date(then).toISOString()} title={exactText(then)} className={className}>
      {text}
    </time>
  )
}
