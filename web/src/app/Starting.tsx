import { useEffect, useState } from "react"
import { Button } from "../ui/buttons/Button"
import { words } from "../words"
import css from "../ui/status/Crash.module.css"

const EVERY = 5000

/** Before anything is known. Nothing is shown at first: most starts are over before one could read it. */
export function Starting({ isUnreachable = false, onRetry }: { isUnreachable?: boolean; onRetry?: () => void }) {
  const [isSlow, setSlow] = useState(false)
  useEffect(() => {
    const timer = setTimeout(() => setSlow(true), 300)
    return () => clearTimeout(timer)
  }, [])
  useEffect(() => {
    if (!isUnreachable || !onRetry) return
    const timer = setInterval(onRetry, EVERY)
    return () => clearInterval(timer)
  }, [isUnreachable, onRetry])
  if (isUnreachable) {
    return (
      <main role="alert" className={css["crash"]}>
        <h1>{words.shell.cannotStart}</h1>
        <p>{words.shell.cannotStartText}</p>
        <div className={css["actions"]}>
          <Button onClick={onRetry}>{words.common.tryAgain}</Button>
        </div>
      </main>
    )
  }
  return <main className={css["crash"]}>{isSlow && <p role="status">{words.common.loading}</p>}</main>
}
