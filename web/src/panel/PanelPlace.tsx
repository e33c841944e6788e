import { lazy, type ReactNode, Suspense } from "react"
import { panelWidth, useKept } from "../browser/kept"
import { classes } from "../ui/classes"
import { Resizer } from "../ui/layout/Resizer"
import { words } from "../words"
import type { PanelOpening } from "./opening"
import css from "./PanelPlace.module.css"

const Sheet = lazy(() => import("../ui/floating/Dialog").then((module) => ({ default: module.Sheet })))

const narrowest = 320
const usualWidth = 520

/** Beside the chat where there is room, over it where there is not, or where one wants to see nothing else. */
export function PanelPlace({ panel, children }: { panel: PanelOpening; children: ReactNode }) {
  const [kept, setWidth] = useKept(panelWidth)
  if (panel.isSheet) {
    // The sheet waits for what is in it: the focus goes to the first thing there.
    return (
      <Suspense>
        <Sheet isOpen={panel.isOpen} onClose={panel.close} title={words.panel.title} side="right" isTitleHidden>
          {children}
        </Sheet>
      </Suspense>
    )
  }
  if (!panel.isOpen) return null
  const widest = Math.max(narrowest, Math.round(window.innerWidth * 0.6))
  const width = Math.min(kept, widest)
  return (
    <aside aria-label={words.panel.title} className={classes(css["panel"], panel.isFull && css["full"])} style={panel.isFull ? undefined : { width }}>
      {!panel.isFull && (
        <Resizer
          of={words.panel.ofPanel}
          side="right"
          width={width}
          min={narrowest}
          max={widest}
          usual={usualWidth}
          onChange={setWidth}
          onBeyond={(end) => (end === "min" ? panel.close() : panel.fill(true))}
        />
      )}
      <div className={css["contents"]}>
        <Suspense>{children}</Suspense>
      </div>
    </aside>
  )
}
