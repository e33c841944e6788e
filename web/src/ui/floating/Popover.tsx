import { Popover as Base } from "@base-ui/react/popover"
import type { ReactElement, ReactNode } from "react"
import { classes } from "../classes"
import own from "./Popover.module.css"
import css from "./popup.module.css"

export interface PopoverProps {
  trigger: ReactElement
  /** What it is about, read aloud when it opens. */
  label: string
  children: ReactNode
  side?: "top" | "bottom" | "left" | "right" | undefined
  align?: "start" | "center" | "end" | undefined
  isOpen?: boolean | undefined
  onOpenChange?: ((isOpen: boolean) => void) | undefined
  /** Opens when pointed at, too. */
  opensOnHover?: boolean | undefined
}

export function Popover({ trigger, label, children, side = "bottom", align = "start", isOpen, onOpenChange, opensOnHover = false }: PopoverProps) {
  return (
    <Base.Root open={isOpen} onOpenChange={(next) => onOpenChange?.(next)}>
      <Base.Trigger render={trigger} openOnHover={opensOnHover} />
      <Base.Portal>
        <Base.Positioner side={side} align={align} sideOffset={4} collisionPadding={8} className={css["positioner"]}>
          <Base.Popup aria-label={label} className={classes(css["popup"], own["popover"])}>
            {children}
          </Base.Popup>
        </Base.Positioner>
      </Base.Portal>
    </Base.Root>
  )
}
