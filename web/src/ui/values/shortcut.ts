/** Shortcuts are written once, as "Mod+Shift+K"; Mod is ⌘ on a Mac and Ctrl elsewhere. */
const isMac = typeof navigator !== "undefined" && /Mac|iP(hone|ad|od)/.test(navigator.platform)

const onMac: Record<string, string> = { Mod: "⌘", Shift: "⇧", Alt: "⌥", Ctrl: "⌃", Enter: "↵" }
const elsewhere: Record<string, string> = { Mod: "Ctrl", Enter: "Enter" }
const anywhere: Record<string, string> = { ArrowUp: "↑", ArrowDown: "↓", ArrowLeft: "←", ArrowRight: "→", Escape: "Esc" }

/** The keys as they are printed on the keyboard. */
export function keysOf(shortcut: string, mac: boolean = isMac): string[] {
  const printed = mac ? onMac : elsewhere
  return partsOf(shortcut).map((key) => printed[key] ?? anywhere[key] ?? (key.length === 1 ? key.toUpperCase() : key))
}

/** The same for `aria-keyshortcuts`. */
export function asAriaShortcut(shortcut: string, mac: boolean = isMac): string {
  const named: Record<string, string> = { Mod: mac ? "Meta" : "Control", Ctrl: "Control", "+": "Plus" }
  return partsOf(shortcut)
    .map((key) => named[key] ?? key)
    .join("+")
}

function partsOf(shortcut: string): string[] {
  return shortcut.endsWith("++") ? [...shortcut.slice(0, -2).split("+"), "+"] : shortcut === "+" ? ["+"] : shortcut.split("+")
}
