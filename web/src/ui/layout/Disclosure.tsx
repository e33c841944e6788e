import { ChevronRight, type LucideIcon } from "lucide-react"
import { type ReactNode, useId, useState } from "react"
import { classes } from "../classes"
import { Icon } from "../Icon"
import css from "./Disclosure.module.css"

export interface DisclosureProps {
  /** The line that is always there. */
  summary: ReactNode
  icon?: LucideIcon | undefined
  /** At the end of the line: a duration, a state. Not a button. */
  end?: ReactNode
  /** What it opens; without it the line has no chevron and can't be pressed. */
  children?: ReactNode
  isOpen?: boolean | undefined
  isOpenAtFirst?: boolean | undefined
  onOpenChange?: ((isOpen: boolean) => void) | undefined
  tone?: "plain" | "muted" | "error" | undefined
}

/** A folded line. What it hides is only made when it is opened. */
export function Disclosure({ summary, icon, end, children, isOpen, isOpenAtFirst = false, onOpenChange, tone = "plain" }: DisclosureProps) {
  const [isOpenHere, setIsOpenHere] = useState(isOpenAtFirst)
  const id = useId()
  const canOpen = children !== undefined && children !== null && children !== false
  const isShown = canOpen && (isOpen ?? isOpenHere)
  const line = (
    <>
      <Icon of={ChevronRight} size={12} className={classes(css["chevron"], isShown && css["turned"], !canOpen && css["absent"])} />
      {icon && <Icon of={icon} className={css["icon"]} />}
      <span className={css["summary"]}>{summary}</span>
      {end && <span className={css["end"]}>{end}</span>}
    </>
  )
  return (
    <div className={classes(css["disclosure"], css[tone])}>
      {canOpen ? (
        <button
          type="button"
          className={css["line"]}
          aria-expanded={isShown}
          aria-controls={isShown ? id : undefined}
          onClick={() => {
            setIsOpenHere(!isShown)
            onOpenChange?.(!isShown)
          }}
        >
          {line}
        </button>
      ) : (
        <div className={css["line"]}>{line}</div>
      )}
      {isShown && (
        <div id={id} className={css["body"]}>
          {children}
        </div>
      )}
    </div>
  )
}
