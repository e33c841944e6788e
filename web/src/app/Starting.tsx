import { CloudOff } from "lucide-react"
import { useEffect, useState } from "react"
import { signedInUser } from "../browser/kept"
import { useIsOnline } from "../browser/online"
import { countUnsent } from "../chat"
import { Button } from "../ui/buttons/Button"
import { EmptyState } from "../ui/status/EmptyState"
import { words } from "../words"
import css from "./Starting.module.css"

const EVERY = 5000

/** Before anything is known. Nothing is shown at first: most starts are over before one could read it. */
export function Starting({ isUnreachable = false, onRetry }: { isUnreachable?: boolean; onRetry?: () => void }) {
  const [isSlow, setSlow] = useState(false)
  // While it is tried again nobody knows: what was said stays until the page begins.
  const [wasUnreachable, setWasUnreachable] = useState(isUnreachable)
  if (isUnreachable && !wasUnreachable) setWasUnreachable(true)
  useEffect(() => {
    const timer = setTimeout(() => setSlow(true), 300)
    return () => clearTimeout(timer)
  }, [])
  useEffect(() => {
    if (!wasUnreachable || !onRetry) return
    const timer = setInterval(onRetry, EVERY)
    window.addEventListener("online", onRetry)
    return () => {
      clearInterval(timer)
      window.removeEventListener("online", onRetry)
    }
  }, [wasUnreachable, onRetry])
  return (
    <main className={css["page"]}>
      {wasUnreachable ? <Unreached onRetry={onRetry} /> : isSlow && <p role="status">{words.common.loading}</p>}
    </main>
  )
}

function Unreached({ onRetry }: { onRetry: (() => void) | undefined }) {
  const isOnline = useIsOnline()
  const [waiting] = useState(() => countUnsent(signedInUser.get()))
  const text = words.shell
  return (
    <div role="status">
      <EmptyState
        isPage
        icon={CloudOff}
        title={isOnline ? text.cannotStart : text.offlineStart}
        text={`${isOnline ? text.cannotStartText : text.offlineStartText}${waiting > 0 ? ` ${text.unsent(waiting)}` : ""}`}
        action={isOnline && <Button onClick={onRetry}>{words.common.tryAgain}</Button>}
      />
    </div>
  )
}
