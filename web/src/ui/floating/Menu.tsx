import { Menu as Base } from "@base-ui/react/menu"
import type { ReactElement } from "react"
import { MenuEntries } from "./MenuEntries"
import type { MenuEntry } from "./menu_items"
import css from "./popup.module.css"

export interface MenuProps {
  /** The button that opens it. */
  children: ReactElement
  entries: readonly MenuEntry[]
  side?: "top" | "bottom" | "left" | "right" | undefined
  align?: "start" | "center" | "end" | undefined
  onOpenChange?: ((isOpen: boolean) => void) | undefined
}

export function Menu({ children, entries, side = "bottom", align = "start", onOpenChange }: MenuProps) {
  return (
    <Base.Root modal={false} onOpenChange={(isOpen) => onOpenChange?.(isOpen)}>
      <Base.Trigger render={children} />
      <Base.Portal>
        <Base.Positioner side={side} align={align} sideOffset={4} collisionPadding={8} className={css["positioner"]}>
          <Base.Popup className={css["popup"]}>
            <MenuEntries entries={entries} />
          </Base.Popup>
        </Base.Positioner>
      </Base.Portal>
    </Base.Root>
  )
}
