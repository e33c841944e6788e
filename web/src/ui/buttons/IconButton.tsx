import type { LucideIcon } from "lucide-react"
import type { ComponentProps } from "react"
import { classes } from "../classes"
import { Tooltip } from "../floating/Tooltip"
import { Icon } from "../Icon"
import { Turning } from "../status/Turning"
import { asAriaShortcut } from "../values/shortcut"
import css from "./IconButton.module.css"

export interface IconButtonProps extends Omit<ComponentProps<"button">, "name" | "aria-label" | "children"> {
  /** What it does, as a verb: read aloud, and shown when pointed at. */
  name: string
  icon: LucideIcon
  /** As in "Mod+K"; shown beside the name. */
  shortcut?: string | undefined
  kind?: "quiet" | "plain" | "primary" | "danger" | undefined
  size?: "normal" | "small" | undefined
  /** For what can be on or off. */
  isPressed?: boolean | undefined
  isBusy?: boolean | undefined
  side?: "top" | "bottom" | "left" | "right" | undefined
}

export function IconButton({
  name,
  icon,
  shortcut,
  kind = "quiet",
  size = "normal",
  isPressed,
  isBusy = false,
  side,
  className,
  onClick,
  ...rest
}: IconButtonProps) {
  return (
    <Tooltip text={name} shortcut={shortcut} side={side}>
      <button
        type="button"
        {...rest}
        aria-label={name}
        aria-pressed={isPressed}
        aria-busy={isBusy || undefined}
        aria-disabled={isBusy || undefined}
        aria-keyshortcuts={shortcut === undefined ? undefined : asAriaShortcut(shortcut)}
        className={classes(css["button"], css[kind], size === "small" && css["small"], className)}
        onClick={isBusy ? (event) => event.preventDefault() : onClick}
      >
        {isBusy ? <Turning /> : <Icon of={icon} />}
      </button>
    </Tooltip>
  )
}
