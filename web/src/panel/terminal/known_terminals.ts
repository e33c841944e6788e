/** Which terminals this tab has open, per workspace: kept over a reload, so that it finds them again. */
import { newKey } from "../../api/new_key"

export interface KnownTerminal {
  /** What the server knows it by. */
  key: string
  number: number
}

const nameOf = (workspaceId: string) => `chatd.terminals.${workspaceId}`

export function knownTerminals(workspaceId: string): readonly KnownTerminal[] {
  try {
    const kept: unknown = JSON.parse(sessionStorage.getItem(nameOf(workspaceId)) ?? "[]")
    return Array.isArray(kept) ? kept.filter(isKnown) : []
  } catch {
    return []
  }
}

/** Storage may be full or forbidden: then they last as long as the page. */
export function keepTerminals(workspaceId: string, terminals: readonly KnownTerminal[]): void {
  try {
    sessionStorage.setItem(nameOf(workspaceId), JSON.stringify(terminals))
  } catch {
    return
  }
}

/** Has the lowest number that is free. */
export function anotherTerminal(known: readonly KnownTerminal[]): KnownTerminal {
  let number = 1
  while (known.some((one) => one.number === number)) number += 1
  return { key: newKey(), number }
}

function isKnown(value: unknown): value is KnownTerminal {
  return typeof value === "object" && value !== null && "key" in value && typeof value.key === "string" && "number" in value && typeof value.number === "number"
}
