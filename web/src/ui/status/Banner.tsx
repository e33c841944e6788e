import { CircleX, Info, type LucideIcon, TriangleAlert, X } from "lucide-react"
import type { ReactNode } from "react"
import { words } from "../../words"
import { IconButton } from "../buttons/IconButton"
import { classes } from "../classes"
import { Icon } from "../Icon"
import css from "./Banner.module.css"

export type BannerKind = "info" | "warn" | "error"

export interface BannerProps {
  kind?: BannerKind | undefined
  /** What happened. */
  title: ReactNode
  /** What is safe, and what to do. */
  text?: ReactNode
  actions?: ReactNode
  onDismiss?: (() => void) | undefined
  /** Off for what was there when the page came, or changes every second: it is not read aloud by itself. */
  isAnnounced?: boolean | undefined
}

const icons: Record<BannerKind, LucideIcon> = { info: Info, warn: TriangleAlert, error: CircleX }

export function Banner({ kind = "info", title, text, actions, onDismiss, isAnnounced = true }: BannerProps) {
  const role = !isAnnounced ? "group" : kind === "error" ? "alert" : "status"
  return (
    <div role={role} className={classes(css["banner"], css[kind])}>
      <Icon of={icons[kind]} className={css["icon"]} />
      <div className={css["words"]}>
        <p className={css["title"]}>{title}</p>
        {text && <div className={css["text"]}>{text}</div>}
      </div>
      {actions && <div className={css["actions"]}>{actions}</div>}
      {onDismiss && <IconButton name={words.ui.dismiss} icon={X} size="small" onClick={onDismiss} />}
    </div>
  )
}
