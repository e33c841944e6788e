import { useEffect, useState } from "react"
import { Turning } from "../../ui/status/Turning"
import { Duration } from "../../ui/values/figures"
import css from "./card.module.css"
import { useLate } from "./use_late"

const COUNTED_FROM = 3000

/** The end of a line whose work goes on: nothing at first, then a ring, then for how long. */
export function Going({ since }: { since: string | null }) {
  const isShown = useLate(true, 300)
  const elapsed = useElapsed(since)
  if (!isShown) return null
  return (
    <span className={css["going"]}>
      {elapsed >= COUNTED_FROM && <Duration milliseconds={elapsed} />}
      <Turning />
    </span>
  )
}

/** Whole seconds, in milliseconds; from now on when nobody knows since when. */
function useElapsed(since: string | null): number {
  const [began] = useState(() => Date.now())
  const [now, setNow] = useState(began)
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), 1000)
    return () => clearInterval(timer)
  }, [])
  const start = since === null ? Number.NaN : Date.parse(since)
  const elapsed = now - (Number.isFinite(start) ? start : began)
  return Math.max(0, Math.floor(elapsed / 1000) * 1000)
}
