/** What can be done where one is, by its name: offered by what is on the page, and found in the palette. */
import { useEffect, useRef } from "react"
import type { MenuAction, MenuEntry } from "./menu_items"

type Offer = () => readonly MenuEntry[]

const offers = new Set<Offer>()

/** Offers them while this is on the page. They are asked for when the palette is opened, and are then as they are by then. */
export function useCommands(entries: readonly MenuEntry[]): void {
  const latest = useRef(entries)
  latest.current = entries
  useEffect(() => {
    const offer = () => latest.current
    offers.add(offer)
    return () => void offers.delete(offer)
  }, [])
}

export function offered(): MenuAction[] {
  return [...offers].flatMap((offer) => flat(offer()))
}

/** One after the other, with those of menus within under both their names. What can't be done now is left out. */
export function flat(entries: readonly MenuEntry[], within = ""): MenuAction[] {
  return entries.flatMap((entry): MenuAction[] => {
    if (entry === "line" || "heading" in entry || entry.isDisabled) return []
    const label = within === "" ? entry.label : `${within}: ${entry.label}`
    if ("entries" in entry) return flat(entry.entries, label)
    return "run" in entry ? [{ ...entry, label }] : [{ label, run: () => entry.choose(entry.isOneOf || !entry.isChecked) }]
  })
}
