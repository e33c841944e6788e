import { Dialog as Base } from "@base-ui/react/dialog"
import { X } from "lucide-react"
import type { ReactNode, RefObject } from "react"
import { words } from "../../words"
import button from "../buttons/IconButton.module.css"
import { classes } from "../classes"
import { Icon } from "../Icon"
import css from "./Dialog.module.css"

export interface DialogProps {
  isOpen: boolean
  onClose: () => void
  title: ReactNode
  /** What it is for, in a sentence below the title. */
  text?: ReactNode
  children?: ReactNode
  /** Buttons; the one that does it comes last. */
  actions?: ReactNode
  width?: "narrow" | "normal" | "wide" | undefined
  /** Where the focus goes first; otherwise to the first control. */
  focusFirst?: RefObject<HTMLElement | null> | undefined
}

/** Asks for something in the middle of the page; on a phone it is a sheet from below. */
export function Dialog({ isOpen, onClose, title, text, children, actions, width = "normal", focusFirst }: DialogProps) {
  return (
    <Base.Root open={isOpen} onOpenChange={(next) => !next && onClose()}>
      <Base.Portal>
        <Base.Backdrop className={css["backdrop"]} />
        <Base.Viewport className={css["viewport"]}>
          <Base.Popup className={classes(css["dialog"], css[width])} {...(focusFirst && { initialFocus: focusFirst })}>
            <Head title={title} text={text} />
            {children && <div className={css["body"]}>{children}</div>}
            {actions && <div className={css["actions"]}>{actions}</div>}
            <Close />
          </Base.Popup>
        </Base.Viewport>
      </Base.Portal>
    </Base.Root>
  )
}

export interface SheetProps {
  isOpen: boolean
  onClose: () => void
  title: string
  side: "left" | "right" | "bottom"
  /** The contents have their own head: the title is only read aloud, and the closing button is seen when Tab reaches it. */
  isTitleHidden?: boolean | undefined
  children: ReactNode
}

/** What is furniture on a wide screen comes in from the side on a narrow one. */
export function Sheet({ isOpen, onClose, title, side, isTitleHidden = false, children }: SheetProps) {
  return (
    <Base.Root open={isOpen} onOpenChange={(next) => !next && onClose()}>
      <Base.Portal>
        <Base.Backdrop className={css["backdrop"]} />
        <Base.Popup className={classes(css["sheet"], css[side])}>
          {isTitleHidden ? <Base.Title className="unseen">{title}</Base.Title> : <Head title={title} />}
          <div className={css["contents"]}>{children}</div>
          <Close isHidden={isTitleHidden} />
        </Base.Popup>
      </Base.Portal>
    </Base.Root>
  )
}

function Head({ title, text }: { title: ReactNode; text?: ReactNode }) {
  return (
    <div className={css["head"]}>
      <Base.Title className={css["title"]}>{title}</Base.Title>
      {text && <Base.Description className={css["text"]}>{text}</Base.Description>}
    </div>
  )
}

/**
 * Last in the order of focus, though it is drawn at the top: one comes to do something, not to close. Without a tooltip, which
 * would take the first Escape.
 */
function Close({ isHidden = false }: { isHidden?: boolean }) {
  return (
    <span className={classes(css["close"], isHidden && css["untilFocused"])}>
      <Base.Close aria-label={words.common.close} className={classes(button["button"], button["quiet"])}>
        <Icon of={X} />
      </Base.Close>
    </span>
  )
}
