/** The pages of the settings, in the order in which they are listed. */
import { Bell, Bot, Cable, Cpu, FileText, FoldVertical, Gauge, GitBranch, Hourglass, KeyRound, LayoutTemplate, Lock, type LucideIcon, MonitorSmartphone, Palette, ScrollText, Split, UserPen, Users as UsersIcon, UsersRound } from "lucide-react"
import type { ComponentType } from "react"
import type { User } from "../api/schema"
import { words } from "../words/with_settings"
import { AdvisorPage } from "./admin/AdvisorPage"
import { Audit } from "./admin/Audit"
import { GitProviders } from "./admin/GitProviders"
import { Groups } from "./admin/Groups"
import { Instructions } from "./admin/Instructions"
import { Lifetime } from "./admin/Lifetime"
import { Limits } from "./admin/Limits"
import { Overrides } from "./admin/Overrides"
import { Templates } from "./admin/Templates"
import { Users } from "./admin/Users"
import { ModelsPage } from "./models/ModelsPage"
import { Appearance } from "./personal/Appearance"
import { Compaction } from "./personal/Compaction"
import { Notifications } from "./personal/Notifications"
import { Password } from "./personal/Password"
import { PersonalPrompt } from "./personal/PersonalPrompt"
import { Sessions } from "./personal/Sessions"
import { Tokens } from "./personal/Tokens"
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
  { path: "notifications", group: "personal", label: text.notifications, icon: Bell, Page: Notifications },
  { path: "prompt", group: "personal", label: text.prompt, icon: UserPen, Page: PersonalPrompt },
  { path: "compaction", group: "personal", label: text.compaction, icon: FoldVertical, Page: Compaction },
  { path: "tokens", group: "personal", label: text.tokens, icon: KeyRound, Page: Tokens },
  { path: "sessions", group: "personal", label: text.sessions, icon: MonitorSmartphone, Page: Sessions },
  { path: "password", group: "personal", label: text.password, icon: Lock, Page: Password },
  { path: "providers", group: "admin", label: text.providers, icon: Cable, Page: ProvidersPage },
  { path: "models", group: "admin", label: text.models, icon: Cpu, Page: ModelsPage },
  { path: "overrides", group: "admin", label: text.overrides, icon: Split, Page: Overrides },
  { path: "advisor", group: "admin", label: text.advisor, icon: Bot, Page: AdvisorPage },
  { path: "instructions", group: "admin", label: text.instructions, icon: FileText, Page: Instructions },
  { path: "templates", group: "admin", label: text.templates, icon: LayoutTemplate, Page: Templates },
  { path: "lifetime", group: "admin", label: text.lifetime, icon: Hourglass, Page: Lifetime },
  { path: "git", group: "admin", label: text.git, icon: GitBranch, Page: GitProviders },
  { path: "users", group: "admin", label: text.users, icon: UsersIcon, Page: Users },
  { path: "groups", group: "admin", label: text.groups, icon: UsersRound, Page: Groups },
  { path: "limits", group: "admin", label: text.limits, icon: Gauge, Page: Limits },
  { path: "audit", group: "admin", label: text.audit, icon: ScrollText, Page: Audit, isForAuditors: true },
]

export function mayOpen(me: User, place: SettingsPlace): boolean {
  if (place.group === "personal" || me.role === "owner") return true
  return me.role === "auditor" && (place.isForAuditors ?? false)
}
