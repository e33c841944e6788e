/** Whether the panel is open, and where: beside the chat, or over it where there is no room. */
import { useCallback, useState, useSyncExternalStore } from "react"
import { panelFull, panelOpen, panelTab, useKept } from "../browser/kept"

export const panelTabs = ["diff", "files", "terminal", "context"] as const
export type PanelTab = (typeof panelTabs)[number]

export interface PanelOpening {
  isOpen: boolean
  /** Over the chat. */
  isSheet: boolean
  /** Beside nothing: the chat is behind it. */
  isFull: boolean
  tab: PanelTab
  show: (tab: PanelTab) => void
  toggle: () => void
  close: () => void
  fill: (isFull: boolean) => void
}

const tight = typeof window === "undefined" ? null : window.matchMedia("(max-width: 1023px)")

export function usePanel(): PanelOpening {
  const isSheet = useSyncExternalStore(
    (changed) => {
      tight?.addEventListener("change", changed)
      return () => tight?.removeEventListener("change", changed)
    },
    () => tight?.matches ?? false,
  )
  const [isOpenBeside, setOpenBeside] = useKept(panelOpen)
  // A sheet hides the chat: it is not there again after a reload.
  const [isOpenOver, setOpenOver] = useState(false)
  const [isFilled, fill] = useKept(panelFull)
  const [kept, setTab] = useKept(panelTab)
  const isOpen = isSheet ? isOpenOver : isOpenBeside
  const set = isSheet ? setOpenOver : setOpenBeside
  const show = useCallback(
    (tab: PanelTab) => {
      setTab(tab)
      set(true)
    },
    [set, setTab],
  )
  const isFull = isOpen && !isSheet && isFilled
  return { isOpen, isSheet, isFull, tab: isPanelTab(kept) ? kept : "diff", show, toggle: () => set(!isOpen), close: () => set(false), fill }
}

function isPanelTab(value: string): value is PanelTab {
  return panelTabs.some((one) => one === value)
}
