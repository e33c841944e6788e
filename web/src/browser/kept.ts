/**
 * What this browser remembers: one place that knows the keys, and that works without storage. Some of it is the browser's
 * (how wide, how dark), some is a person's: that is under a key of theirs, so that the next who signs in here has none of it.
 */
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

let person = ""

/** From now on what is a person's is this one's. */
export function keepFor(userId: string): void {
  person = userId
}

/** Whose things these are; "" before anyone has come in. */
export function keptPerson(): string {
  return person
}

type Owner = "browser" | "person"

function prefixOf(owner: Owner, userId = person): string {
  return owner === "browser" ? "chatd." : `chatd.of.${userId}.`
}

/** Texts are stored as they are, since `theme.js` reads one before anything else runs; all else as JSON. */
function kept<T>(owner: Owner, key: string, otherwise: T, check: Check<T>): Kept<T> {
  const name = () => prefixOf(owner) + key
  const listeners = new Set<() => void>()
  let known: { name: string; value: T } | null = null
  const tell = () => {
    for (const listener of listeners) listener()
  }
  const fromElsewhere = (event: StorageEvent) => {
    if (event.key !== name() && event.key !== null) return
    known = null
    tell()
  }
  return {
    get() {
      if (known?.name !== name()) known = { name: name(), value: read(name(), otherwise, check) }
      return known.value
    },
    set(value) {
      known = { name: name(), value }
      attempt(() => localStorage.setItem(name(), typeof value === "string" ? value : JSON.stringify(value)))
      tell()
    },
    forget() {
      known = { name: name(), value: otherwise }
      attempt(() => localStorage.removeItem(name()))
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

export const theme = kept<Theme>("browser", "theme", "system", oneOf("system", "light", "dark"))
export const sidebarWidth = kept("browser", "sidebar-width", 260, isNumber)
export const sidebarOpen = kept("browser", "sidebar-open", true, isFlag)
export const panelWidth = kept("browser", "panel-width", 520, isNumber)
export const panelOpen = kept("browser", "panel-open", false, isFlag)
export const panelFull = kept("browser", "panel-full", false, isFlag)
export const panelTab = kept<string>("browser", "panel-tab", "diff", isText)
export const lastModel = kept<string>("person", "last-model", "", isText)
export const diffLayout = kept<"unified" | "split">("browser", "diff-layout", "unified", oneOf("unified", "split"))
/** Whether terminals are also written as text for screen readers. */
export const terminalText = kept("browser", "terminal-text", false, isFlag)
export const sendWith = kept<"enter" | "modifier">("browser", "send-with", "enter", oneOf("enter", "modifier"))
export const chime = kept("browser", "chime", false, isFlag)
/** Who came in last: another tab has to know, since they share one session. */
export const signedInUser = kept<string>("browser", "user", "", isText)
/** When someone came in last, as `Date.now` gives it: tabs that were told that the session has ended go on with it. */
export const signedInAt = kept("browser", "signed-in-at", 0, isNumber)
/** Who has asked to be told by this browser. */
export const pushFor = kept<string>("browser", "push-for", "", isText)

const perName = new Map<string, Kept<string>>()

export type TextKind = "draft" | "effort" | "model" | "unsent"

/** A person's text under a name of its own: the draft of a chat, the effort last chosen for a model, a message without an answer. */
export function keptText(kind: TextKind, name: string): Kept<string> {
  const key = `${kind}.${name}`
  let found = perName.get(key)
  if (!found) {
    found = kept<string>("person", key, "", isText)
    perName.set(key, found)
  }
  return found
}

/** The names under which there are texts of a kind. */
export function keptNames(kind: TextKind): string[] {
  const prefix = `${prefixOf("person")}${kind}.`
  return attempt(() => Object.keys(localStorage).flatMap((key) => (key.startsWith(prefix) ? [key.slice(prefix.length)] : []))) ?? []
}

/** The texts of a kind of someone who was here last, before it is known that they are here again. */
export function keptTextsOf(userId: string, kind: TextKind): string[] {
  const prefix = `${prefixOf("person", userId)}${kind}.`
  return attempt(() => Object.entries(localStorage).flatMap(([key, text]) => (key.startsWith(prefix) && isText(text) ? [text] : []))) ?? []
}

/** Tells the name of each text of a kind that another tab has forgotten. Gives what ends it. */
export function onTextGone(kind: TextKind, run: (name: string) => void): () => void {
  const heard = ({ key, newValue }: StorageEvent) => {
    const prefix = `${prefixOf("person")}${kind}.`
    if (newValue === null && key?.startsWith(prefix)) run(key.slice(prefix.length))
  }
  window.addEventListener("storage", heard)
  return () => window.removeEventListener("storage", heard)
}

/** Who signs out leaves nothing behind. */
export function forgetPerson(): void {
  const prefix = prefixOf("person")
  attempt(() => {
    for (const key of Object.keys(localStorage)) if (key.startsWith(prefix)) localStorage.removeItem(key)
  })
}
