/** Toasts can be said from anywhere, and before the region that shows them has come: it is loaded when one is wanted. */

export interface ToastOptions {
  text?: string | undefined
  kind?: "info" | "error" | undefined
  /** One thing that can be done about it, as in Undo. */
  action?: { label: string; run: () => void } | undefined
  /** Saying the same again replaces what was said. */
  id?: string | undefined
  /** How long it stays; errors stay until they are dismissed. */
  milliseconds?: number | undefined
}

export interface ToastRegion {
  say(id: string, title: string, options: ToastOptions): void
  close(id: string): void
}

let region: ToastRegion | null = null
let waiting: ((region: ToastRegion) => void)[] = []
let made = 0
const listeners = new Set<() => void>()

/** Says that something has happened. Returns what `closeToast` needs. */
export function toast(title: string, options: ToastOptions = {}): string {
  made += 1
  const id = options.id ?? `toast-${made}`
  tell((shown) => shown.say(id, title, options))
  return id
}

export function closeToast(id: string): void {
  tell((shown) => shown.close(id))
}

function tell(act: (region: ToastRegion) => void): void {
  if (region) return act(region)
  waiting.push(act)
  for (const listener of listeners) listener()
}

/** Whether there is something to show that nobody shows yet. */
export function isRegionWanted(): boolean {
  return waiting.length > 0
}

export function onRegionWanted(listener: () => void): () => void {
  listeners.add(listener)
  return () => void listeners.delete(listener)
}

/** From now on this one shows them, beginning with those that waited. Gives what ends it. */
export function showToasts(shown: ToastRegion): () => void {
  region = shown
  const acts = waiting
  waiting = []
  for (const act of acts) act(shown)
  return () => {
    if (region === shown) region = null
  }
}
