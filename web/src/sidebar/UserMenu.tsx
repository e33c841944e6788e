import { Bell, ChartColumn, Keyboard, LogOut, Monitor, Moon, Settings, Sun, Boxes } from "lucide-react"
import { useEffect } from "react"
import { useLocation } from "wouter"
import { request } from "../api/request"
import type { User } from "../api/schema"
import { type Theme, theme, useKept } from "../browser/kept"
import { signOut } from "../chat"
import { knownAddress } from "../browser/push"
import { IconButton } from "../ui/buttons/IconButton"
import { useCommands } from "../ui/floating/commands"
import { Menu } from "../ui/floating/Menu"
import type { MenuEntry } from "../ui/floating/menu_items"
import { toast } from "../ui/floating/toast"
import { words } from "../words"
import css from "./UserMenu.module.css"

const themes: { value: Theme; icon: typeof Sun }[] = [
  { value: "system", icon: Monitor },
  { value: "light", icon: Sun },
  { value: "dark", icon: Moon },
]

export function UserMenu({ me, onShortcuts }: { me: User; onShortcuts: () => void }) {
  const [, navigate] = useLocation()
  const [chosen, choose] = useKept(theme)
  useRenewedPush()
  const text = words.shell
  const entries: MenuEntry[] = [
    { label: text.usage, icon: ChartColumn, run: () => navigate("/usage") },
    { label: text.workspaces, icon: Boxes, run: () => navigate("/workspaces") },
    {
      label: text.theme,
      icon: themes.find((one) => one.value === chosen)?.icon,
      entries: themes.map(({ value }) => ({
        label: text.themes[value],
        isChecked: value === chosen,
        isOneOf: true,
        choose: () => choose(value),
      })),
    },
    { label: text.notifications, icon: Bell, run: () => navigate("/settings/notifications") },
    { label: text.shortcuts, icon: Keyboard, shortcut: "?", run: onShortcuts },
    "line",
    { label: text.signOut, icon: LogOut, run: leave },
  ]
  useCommands(entries)
  return (
    <div className={css["footer"]}>
      <Menu side="top" entries={entries}>
        <button type="button" className={css["me"]}>
          <span aria-hidden className={css["initial"]}>
            {(me.display_name || me.username).slice(0, 1).toUpperCase()}
          </span>
          <span className={css["name"]}>{me.display_name || me.username}</span>
        </button>
      </Menu>
      <IconButton name={text.settings} icon={Settings} onClick={() => navigate("/settings")} />
    </div>
  )
}

function leave(): void {
  void signOut().catch((error: Error) => toast(words.common.failed(words.shell.signOut), { text: error.message, kind: "error", id: "sign-out" }))
}

/** Told again at every visit, since the server forgets a browser with the session that named it. */
function useRenewedPush(): void {
  useEffect(() => {
    void knownAddress().then((body) => body && request("POST /api/v2/users/{user}/webpush/subscription", { path: { user: "me" }, body }).catch(() => null))
  }, [])
}
