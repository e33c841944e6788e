import { ContextMenu as Base } from "@base-ui/react/context-menu"
import type { ReactElement } from "react"
import { MenuEntries } from "./MenuEntries"
import type { MenuEntry } from "./menu_items"
import css from "./popup.module.css"

/** The same entries on the right mouse button, or a long press. There must be another way to each of them. */
export function ContextMenu({ children, entries }: { children: ReactElement; entries: readonly MenuEntry[] }) {
  return (
    <Base.Root>
      <Base.Trigger render={children} />
      <Base.Portal>
        <Base.Positioner collisionPadding={8} className={css["positioner"]}>
          <Base.Popup className={css["popup"]}>
            <MenuEntries entries={entries} />
          </Base.Popup>
        </Base.Positioner>
      </Base.Portal>
    </Base.Root>
  )
}
