/** The list by keyboard: arrows go from chat to chat, and what the menu offers has keys. */
import type { KeyboardEvent } from "react"

export interface ListKeys {
  tick(id: string): void
  /** Chooses all of these, whichever were chosen before. */
  tickAll(ids: readonly string[]): void
  move(id: string, by: -1 | 1): void
  rename(id: string): void
  /** Whether it goes: one that is at work stays. */
  archive(id: string): boolean
  /** null while nothing is being chosen. */
  leave: (() => void) | null
}

export function pressed(event: KeyboardEvent<HTMLElement>, keys: ListKeys): void {
  if (event.ctrlKey || event.metaKey || !isDone(event, keys)) return
  event.preventDefault()
  event.stopPropagation()
}

/** Only on the link of a row: its menu and its box have keys of their own. */
function isDone(event: KeyboardEvent<HTMLElement>, keys: ListKeys): boolean {
  const rows = [...event.currentTarget.querySelectorAll<HTMLElement>("[data-chat]")]
  const at = event.target instanceof Element ? rows.findIndex((row) => row.contains(event.target as Element)) : -1
  const id = rows[at]?.dataset["chat"]
  if (id === undefined) return false
  if (event.key === "Escape" && keys.leave) keys.leave()
  else if (!(event.target instanceof HTMLAnchorElement)) return false
  else if (event.key === "ArrowUp" || event.key === "ArrowDown") {
    const by = event.key === "ArrowUp" ? -1 : 1
    if (event.altKey) keys.move(id, by)
    else go(rows[at + by], event.shiftKey ? (other) => keys.tickAll([id, other]) : undefined)
  } else if (event.key === "Home") go(rows[0])
  else if (event.key === "End") go(rows.at(-1))
  else if (event.key === " ") keys.tick(id)
  else if (event.key === "F2") keys.rename(id)
  else if (event.key === "Delete") {
    // The row takes the focus with it.
    if (keys.archive(id)) go(rows[at + 1] ?? rows[at - 1])
  } else return false
  return true
}

function go(row: HTMLElement | undefined, then?: (id: string) => void): void {
  row?.querySelector("a")?.focus()
  const id = row?.dataset["chat"]
  if (id !== undefined) then?.(id)
}
