import { useSyncExternalStore } from "react"
import { Tooltip } from "../floating/Tooltip"
import { currentTime, subscribe } from "./clock"
import { exactText, relativeText } from "./spans"

/** How long ago, with the exact time on hover. Takes what the API sends, or milliseconds. */
export function RelativeTime({ at, className }: { at: string | number | Date; className?: string | undefined }) {
  const then = new Date(at).getTime()
  const text = useSyncExternalStore(subscribe, () => relativeText(then, currentTime()))
  if (Number.isNaN(then)) return null
  return (
    <Tooltip text={exactText(then)}>
      <time dateTime={new Date(then).toISOString()} className={className}>
        {text}
      </time>
    </Tooltip>
  )
}
