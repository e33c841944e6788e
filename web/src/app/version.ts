/** A tab that is older than its server: the server's page names another script than the one that runs here. */
import { useEffect, useState } from "react"
import type { ChatList } from "../sidebar/store"

async function isOutdated(): Promise<boolean> {
  const own = document.querySelector("script[type=module]")?.getAttribute("src")
  try {
    const answer = await fetch("/", { cache: "no-store" })
    const page = answer.ok ? await answer.text() : ""
    return own != null && page.includes('id="app"') && !page.includes(own)
  } catch {
    return false // it is asked again when the connection is back
  }
}

/** Looked up when the feed of the list comes back, which it does after every upgrade, and when a part of the app can't be had. */
export function useIsOutdated(list: ChatList): boolean {
  const [isOld, setOld] = useState(false)
  useEffect(() => {
    let hasBeenLive = false
    const look = () => void isOutdated().then((found) => found && setOld(true))
    const forget = list.state.subscribe(({ isLive }, before) => {
      if (isLive === before.isLive) return
      if (isLive && hasBeenLive) look()
      hasBeenLive ||= isLive
    })
    window.addEventListener("vite:preloadError", look)
    return () => {
      forget()
      window.removeEventListener("vite:preloadError", look)
    }
  }, [list])
  return isOld
}
