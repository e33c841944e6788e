import type { LucideIcon } from "lucide-react"
import type { ReactNode } from "react"
import { classes } from "../classes"
import { Icon } from "../Icon"
import css from "./Badge.module.css"

export interface BadgeProps {
  kind?: "plain" | "accent" | "ok" | "warn" | "error" | undefined
  icon?: LucideIcon | undefined
  children: ReactNode
}

/** A word about a thing, beside its name. */
export function Badge({ kind = "plain", icon, children }: BadgeProps) {
  return (
    <span className={classes(css["badge"], css[kind])}>
      {icon && <Icon of={icon} size={12} />}
      {children}
    </span>
  )
}
