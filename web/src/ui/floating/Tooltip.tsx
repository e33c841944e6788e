import { Tooltip as Base } from "@base-ui/react/tooltip"
import type { ReactElement, ReactNode } from "react"
import { Kbd } from "../values/Kbd"
import css from "./Tooltip.module.css"

export interface TooltipProps {
  text: ReactNode
  shortcut?: string | undefined
  side?: "top" | "bottom" | "left" | "right" | undefined
  /** One element that takes props and a ref. */
  children: ReactElement
}

/** A word about what is pointed at. Never the only place where something is said. */
export function Tooltip({ text, shortcut, side = "top", children }: TooltipProps) {
  return (
    <Base.Root>
      <Base.Trigger render={children} />
      <Base.Portal>
        <Base.Positioner side={side} sideOffset={6} collisionPadding={8} className={css["positioner"]}>
          <Base.Popup className={css["popup"]}>
            <span>{text}</span>
            {shortcut !== undefined && <Kbd keys={shortcut} />}
          </Base.Popup>
        </Base.Positioner>
      </Base.Portal>
    </Base.Root>
  )
}
