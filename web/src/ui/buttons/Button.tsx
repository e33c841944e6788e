import type { LucideIcon } from "lucide-react"
import type { ComponentProps, ReactNode } from "react"
import { words } from "../../words"
import { classes } from "../classes"
import { Icon } from "../Icon"
import css from "./Button.module.css"
import { Turning } from "../status/Turning"

interface Look {
  /** primary: the one action of a place. plain: the others. quiet: among text. danger: destroys. */
  kind?: "primary" | "plain" | "quiet" | "danger" | undefined
  size?: "normal" | "small" | undefined
  icon?: LucideIcon | undefined
  className?: string | undefined
}

export interface ButtonProps extends ComponentProps<"button">, Look {
  /** Under way: can't be pressed, keeps the focus, and says so. */
  isBusy?: boolean | undefined
  busyText?: string | undefined
}

export function Button({ kind, size, icon, isBusy = false, busyText, className, children, onClick, disabled, ...rest }: ButtonProps) {
  return (
    <button
      type="button"
      {...rest}
      className={buttonClass({ kind, size, className })}
      disabled={disabled}
      aria-disabled={isBusy || undefined}
      aria-busy={isBusy || undefined}
      onClick={isBusy ? (event) => event.preventDefault() : onClick}
    >
      {isBusy ? <Turning /> : icon && <Icon of={icon} />}
      <Label>{isBusy ? (busyText ?? words.ui.working) : children}</Label>
    </button>
  )
}

/** Looks like a button, goes somewhere. */
export function ButtonLink({ kind, size, icon, className, children, ...rest }: ComponentProps<"a"> & Look) {
  return (
    <a {...rest} className={buttonClass({ kind, size, className })}>
      {icon && <Icon of={icon} />}
      <Label>{children}</Label>
    </a>
  )
}

function Label({ children }: { children: ReactNode }) {
  return <span className={css["label"]}>{children}</span>
}

function buttonClass({ kind = "plain", size = "normal", className }: Look): string {
  return classes(css["button"], css[kind], size === "small" && css["small"], className)
}
