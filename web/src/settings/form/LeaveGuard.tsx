import { useEffect, useState } from "react"
import { Button } from "../../ui/buttons/Button"
import { Dialog } from "../../ui/floating/Dialog"
import { words } from "../../words"

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

/** The router has no way to hold a navigation, so it is held where every navigation passes: the history itself. */
function guard(ask: (go: () => void) => void): () => void {
  const push: PushState = window.history.pushState
  const here = window.location.href
  const state: unknown = window.history.state
  let isLeaving = false

  const unload = (event: BeforeUnloadEvent) => event.preventDefault()
  const back = (event: PopStateEvent) => {
    if (isLeaving) return
    event.stopImmediatePropagation()
    push.call(window.history, state, "", here)
    ask(() => {
      isLeaving = true
      window.history.back()
    })
  }
  window.history.pushState = (...asked: Parameters<PushState>) => ask(() => push.apply(window.history, asked))
  window.addEventListener("beforeunload", unload)
  window.addEventListener("popstate", back, { capture: true })
  return () => {
    window.history.pushState = push
    window.removeEventListener("beforeunload", unload)
    window.removeEventListener("popstate", back, { capture: true })
  }
}
