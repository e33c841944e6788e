/** The pages of the settings, in the order in which they are listed. */
import { Cable, Cpu, Palette, type LucideIcon } from "lucide-react"
import type { ComponentType } from "react"
import type { User } from "../api/schema"
import { words } from "../words"
import { ModelsPage } from "./models/ModelsPage"
import { Appearance } from "./personal/Appearance"
import { ProvidersPage } from "./providers/ProvidersPage"

export interface PlaceProps {
  me: User
  /** What comes after the page in the address: an id, or `new`. */
  item: string | undefined
}

export interface SettingsPlace {
  path: string
  group: "personal" | "admin"
  label: string
  icon: LucideIcon
  Page: ComponentType<PlaceProps>
  /** Auditors may look at it too. */
  isForAuditors?: boolean
}

const text = words.settings.pages

export const pages: readonly SettingsPlace[] = [
  { path: "appearance", group: "personal", label: text.appearance, icon: Palette, Page: Appearance },
  { path: "providers", group: "admin", label: text.providers, icon: Cable, Page: ProvidersPage },
  { path: "models", group: "admin", label: text.models, icon: Cpu, Page: ModelsPage },
]

export function mayOpen(me: User, place: SettingsPlace): boolean {
  if (place.group === "personal" || me.role === "owner") return true
  return me.role === "auditor" && (place.isForAuditors ?? false)
}
