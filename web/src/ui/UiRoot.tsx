import { CSPProvider } from "@base-ui/react/csp-provider"
import { Tooltip } from "@base-ui/react/tooltip"
import { lazy, type ReactNode, Suspense, useEffect, useState, useSyncExternalStore } from "react"
import { isRegionWanted, onRegionWanted } from "./floating/toast"
import { SharedTooltip } from "./floating/Tooltip"

const Toasts = lazy(loadToasts)

/** What the pieces need around them, once per page: no style elements (the policy forbids them), the tooltip, toasts. */
export function UiRoot({ children }: { children: ReactNode }) {
  return (
    <CSPProvider disableStyleElements>
      <Tooltip.Provider delay={500} closeDelay={0}>
        {children}
        <LateToasts />
        <SharedTooltip />
      </Tooltip.Provider>
    </CSPProvider>
  )
}

const LATER = 1000
const AGAIN = 3000

/** Until it comes: there is nothing around it that would fail alone, and a page without it is better than none. */
async function loadToasts() {
  for (;;) {
    try {
      const module = await import("./floating/Toasts")
      return { default: module.Toasts }
    } catch {
      await new Promise((done) => setTimeout(done, AGAIN))
    }
  }
}

/** Not with the first picture, and soon after it: a toast may have to say that there is no network to load it from. */
function LateToasts() {
  const isWanted = useSyncExternalStore(onRegionWanted, isRegionWanted)
  const [isTime, setTime] = useState(false)
  useEffect(() => {
    const timer = setTimeout(() => setTime(true), LATER)
    return () => clearTimeout(timer)
  }, [])
  // What was wanted once is wanted: the region takes what waits for it.
  if (isWanted && !isTime) setTime(true)
  return (
    isTime && (
      <Suspense>
        <Toasts />
      </Suspense>
    )
  )
}
