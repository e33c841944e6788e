/** Keys that work anywhere on the page. Declared once: the sheet on `?` and the listener read the same table. */
import { useEffect, useRef } from "react"

export interface Shortcut {
  /** As in "Mod+Shift+K". */
  keys: string
  name: string
  run: () => void
  /** Also while something is being typed. */
  inFields?: boolean
}

export function useShortcuts(shortcuts: readonly Shortcut[]): void {
  const latest = useRef(shortcuts)
  latest.current = shortcuts
  useEffect(() => {
    const pressed = (event: KeyboardEvent) => {
      if (event.defaultPrevented || event.isComposing) return
      const isTyping = isField(event.target)
      const found = latest.current.find((one) => (one.inFields || !isTyping) && matches(event, one.keys))
      if (!found) return
      event.preventDefault()
      found.run()
    }
    window.addEventListener("keydown", pressed)
    return () => window.removeEventListener("keydown", pressed)
  }, [])
}

export function matches(event: Pick<KeyboardEvent, "key" | "code" | "ctrlKey" | "metaKey" | "altKey" | "shiftKey">, keys: string): boolean {
  const parts = keys.split("+")
  const key = parts.at(-1) ?? ""
  const has = (name: string) => parts.slice(0, -1).includes(name)
  if ((event.ctrlKey || event.metaKey) !== has("Mod")) return false
  if (event.altKey !== has("Alt")) return false
  // Signs such as ? need Shift on some keyboards and not on others.
  if (/^[a-z0-9]$/i.test(key) && event.shiftKey !== has("Shift")) return false
  // With Alt some systems put another sign into `key`.
  return event.key.toLowerCase() === key.toLowerCase() || (has("Alt") && event.code === `Key${key.toUpperCase()}`)
}

function isField(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement)) return false
  return target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName) || target.closest("[data-takes-keys]") !== null
}
