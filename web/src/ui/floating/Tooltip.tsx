import { Tooltip as Base } from "@base-ui/react/tooltip"
import type { ReactElement, ReactNode } from "react"
import { Kbd } from "../values/Kbd"
import css from "./Tooltip.module.css"

type Side = "top" | "bottom" | "left" | "right"

interface Said {
  text: ReactNode
  shortcut: string | undefined
  side: Side
}

/** All tooltips are one, which goes from place to place: a page has hundreds of buttons. */
const shared = Base.createHandle<Said>()

export interface TooltipProps {
  text: ReactNode
  shortcut?: string | undefined
  side?: Side | undefined
  /** One element that takes props and a ref. */
  children: ReactElement
}

/** A word about what is pointed at. Never the only place where something is said. */
export function Tooltip({ text, shortcut, side = "top", children }: TooltipProps) {
  return <Base.Trigger handle={shared} payload={{ text, shortcut, side }} render={children} />
}

/** The one that is shown; `UiRoot` has it. */
export function SharedTooltip() {
  return (
    <Base.Root handle={shared}>
      {({ payload }) => (
        <Base.Portal>
          <Base.Positioner side={payload?.side ?? "top"} sideOffset={6} collisionPadding={8} className={css["positioner"]}>
            <Base.Popup className={css["popup"]}>
              <span>{payload?.text}</span>
              {payload?.shortcut !== undefined && <Kbd keys={payload.shortcut} />}
            </Base.Popup>
          </Base.Positioner>
        </Base.Portal>
      )}
    </Base.Root>
  )
}
