import { useEffect, useState } from "react"
import { isBeingLeft } from "../../browser/leaving"
import { Button } from "../../ui/buttons/Button"
import { Dialog } from "../../ui/floating/Dialog"
import { words } from "../../words/with_settings"

type PushState = typeof window.history.pushState

/** Asks before a page with unsaved changes is left: by a link, by Back, or by closing the tab. */
export function LeaveGuard({ isChanged }: { isChanged: boolean }) {
  const [leave, setLeave] = useState<(() => void) | null>(null)
  useEffect(() => (isChanged ? guard((go) => setLeave(() => go)) : undefined), [isChanged])
  const text = words.settings.leave
  return (
    <Dialog
      isOpen={leave !== null}
      onClose={() => setLeave(null)}
      title={text.title}
      text={text.text}
      width="narrow"
      actions={
        <>
          <Button onClick={() => setLeave(null)}>{text.stay}</Button>
          <Button
            kind="danger"
            onClick={() => {
              setLeave(null)
              leave?.()
            }}
          >
            {text.leave}
          </Button>
        </>
      }
    />
  )
}

/**
 * The router has no way to hold a navigation, so it is held where every navigation passes. Going back can be held only where the
 * browser has the Navigation API, and only after the person has done something on the page.
 */
function guard(ask: (go: () => void) => void): () => void {
  const push: PushState = window.history.pushState
  const stop = new AbortController()
  let isLeaving = false

  window.history.pushState = (...asked: Parameters<PushState>) => ask(() => push.apply(window.history, asked))
  window.addEventListener("beforeunload", (event) => !isBeingLeft() && event.preventDefault(), { signal: stop.signal })
  if ("navigation" in window)
    window.navigation.addEventListener(
      "navigate",
      (event) => {
        if (event.navigationType !== "traverse" || !event.cancelable || isLeaving) return
        event.preventDefault()
        const { key } = event.destination
        ask(() => {
          isLeaving = true
          window.navigation.traverseTo(key)
        })
      },
      { signal: stop.signal },
    )
  return () => {
    window.history.pushState = push
    stop.abort()
  }
}
