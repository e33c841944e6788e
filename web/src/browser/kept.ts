/** What this browser remembers: one place that knows the keys, and that works without storage. */
import { useSyncExternalStore } from "react"

type Check<T> = (value: unknown) => value is T

export interface Kept<T> {
  get(): T
  set(value: T): void
  forget(): void
  subscribe(changed: () => void): () => void
}

const isText = (value: unknown): value is string => typeof value === "string"
const isNumber = (value: unknown): value is number => typeof value === "number" && Number.isFinite(value)
const isFlag = (value: unknown): value is boolean => typeof value === "boolean"
const oneOf =
  <T extends string>(...values: T[]): Check<T> =>
  (value): value is T =>
    values.includes(value as T)

/** Texts are stored as they are, since `theme.js` reads one before anything else runs; all else as JSON. */
function kept<T>(key: string, otherwise: T, check: Check<T>): Kept<T> {
  const name = `chatd.${key}`
  const listeners = new Set<() => void>()
  let known: { value: T } | null = null
  const tell = () => {
    for (const listener of listeners) listener()
  }
  const fromElsewhere = (event: StorageEvent) => {
    if (event.key !== name && event.key !== null) return
    known = null
    tell()
  }
  return {
    get() {
      known ??= { value: read(name, otherwise, check) }
      return known.value
    },
    set(value) {
      known = { value }
      attempt(() => localStorage.setItem(name, typeof value === "string" ? value : JSON.stringify(value)))
      tell()
    },
    forget() {
      known = { value: otherwise }
      attempt(() => localStorage.removeItem(name))
      tell()
    },
    subscribe(changed) {
      if (listeners.size === 0) window.addEventListener("storage", fromElsewhere)
      listeners.add(changed)
      return () => {
        listeners.delete(changed)
        if (listeners.size === 0) window.removeEventListener("storage", fromElsewhere)
      }
    },
  }
}

function read<T>(name: string, otherwise: T, check: Check<T>): T {
  const stored = attempt(() => localStorage.getItem(name)) ?? null
  if (stored === null) return otherwise
  if (check(stored)) return stored
  const value: unknown = attempt(() => JSON.parse(stored))
  return check(value) ? value : otherwise
}

/** Storage may be full or forbidden: then what is kept lasts as long as the page. */
function attempt<T>(act: () => T): T | undefined {
  try {
    return act()
  } catch {
    return undefined
  }
}

export function useKept<T>(of: Kept<T>): [T, (value: T) => void] {
  return [useSyncExternalStore(of.subscribe, of.get), of.set]
}

export type Theme = "system" | "light" | "dark"

export const theme = kept<Theme>("theme", "system", oneOf("system", "light", "dark"))
export const sidebarWidth = kept("sidebar-width", 260, isNumber)
export const sidebarOpen = kept("sidebar-open", true, isFlag)
export const panelWidth = kept("panel-width", 520, isNumber)
export const panelOpen = kept("panel-open", false, isFlag)
export const panelTab = kept<string>("panel-tab", "diff", isText)
export const lastModel = kept<string>("last-model", "", isText)
export const diffLayout = kept<"unified" | "split">("diff-layout", "unified", oneOf("unified", "split"))
export const sendWith = kept<"enter" | "modifier">("send-with", "enter", oneOf("enter", "modifier"))
export const chime = kept("chime", false, isFlag)

const perName = new Map<string, Kept<string>>()

/** A text under a name of its own: the draft of a chat, the effort that was last chosen for a model. */
export function keptText(kind: "draft" | "effort", name: string): Kept<string> {
  const key = `${kind}.${name}`
  let found = perName.get(key)
  if (!found) {
    found = kept<string>(key, "", isText)
    perName.set(key, found)
  }
  return found
}

/** What one person has written is not there for the next who signs in here. */
export function forgetDrafts(): void {
  attempt(() => {
    for (const key of Object.keys(localStorage)) if (key.startsWith("chatd.draft.")) localStorage.removeItem(key)
  })
}
