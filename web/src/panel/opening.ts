/** Whether the panel is open, and where: beside the chat, or over it where there is no room. */
import { useMemo, useState, useSyncExternalStore } from "react"
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
  // The same while nothing of it changes, so that what is given it is not drawn for each word of an answer.
  return useMemo(
    () => ({
      isOpen,
      isSheet,
      isFull: isOpen && !isSheet && isFilled,
      tab: isPanelTab(kept) ? kept : "diff",
      show: (tab: PanelTab) => {
        setTab(tab)
        set(true)
      },
      toggle: () => set(!isOpen),
      close: () => set(false),
      fill,
    }),
    [isOpen, isSheet, isFilled, kept, set, setTab, fill],
  )
}

function isPanelTab(value: string): value is PanelTab {
  return panelTabs.some((one) => one === value)
}
