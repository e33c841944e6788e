import { useSyncExternalStore } from "react"
import { currentTime, subscribe } from "./clock"
import { exactText, relativeText, shortText } from "./spans"

export interface RelativeTimeProps {
  /** What the API sends, or milliseconds. */
  at: string | number | Date
  /** Where there is little room, and everything is past. */
  isShort?: boolean
  className?: string | undefined
}

/** How long ago, with the exact time on hover. */
export function RelativeTime({ at, isShort = false, className }: RelativeTimeProps) {
  const then = new Date(at).getTime()
  const text = useSyncExternalStore(subscribe, () => (isShort ? shortText : relativeText)(then, currentTime()))
  if (Number.isNaN(then)) return null
  return (
    <time dateTime={new Date(then).toISOString()} title={exactText(then)} className={className}>
      {text}
    </time>
  )
}
