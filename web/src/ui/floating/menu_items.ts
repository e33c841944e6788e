import type { LucideIcon } from "lucide-react"

/** What a menu offers: the same list serves a button's menu and the one of the right mouse button. */
export type MenuEntry = MenuAction | MenuChoice | SubMenu | MenuHeading | "line"

interface Shown {
  label: string
  hint?: string | undefined
  icon?: LucideIcon | undefined
  isDisabled?: boolean | undefined
}

export interface MenuAction extends Shown {
  run: () => void
  shortcut?: string | undefined
  isDanger?: boolean | undefined
}

/** Has a tick: on its own (any number can be on), or as one of several (`isOneOf`). */
export interface MenuChoice extends Shown {
  isChecked: boolean
  isOneOf?: boolean | undefined
  choose: (isChecked: boolean) => void
}

export interface SubMenu extends Shown {
  entries: readonly MenuEntry[]
}

export interface MenuHeading {
  heading: string
}
