import { ChartColumn, Keyboard, LogOut, Monitor, Moon, Settings, Sun, Boxes } from "lucide-react"
import { useEffect, useState } from "react"
import { useLocation } from "wouter"
import { request } from "../api/request"
import type { User } from "../api/schema"
import { type Theme, theme, useKept } from "../browser/kept"
import { signOut } from "../chat"
import { knownAddress, type PushState, pushState, subscribe, unsubscribe } from "../browser/push"
import { IconButton } from "../ui/buttons/IconButton"
import { Menu } from "../ui/floating/Menu"
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
  const push = usePush()
  const text = words.shell
  return (
    <div className={css["footer"]}>
      <Menu
        side="top"
        entries={[
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
          ...(push.state === "unsupported"
            ? []
            : [
                {
                  label: text.notify,
                  hint: push.state === "denied" ? text.notifyDenied : undefined,
                  isDisabled: push.state === "denied",
                  isChecked: push.state === "on",
                  choose: push.set,
                },
              ]),
          { label: text.shortcuts, icon: Keyboard, shortcut: "?", run: onShortcuts },
          "line",
          { label: text.signOut, icon: LogOut, run: leave },
        ]}
      >
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
function usePush(): { state: PushState; set: (isOn: boolean) => void } {
  const [state, setState] = useState<PushState>("unsupported")
  useEffect(() => {
    void pushState().then(setState)
    void knownAddress().then((body) => body && request("POST /api/v2/users/{user}/webpush/subscription", { path: { user: "me" }, body }).catch(() => null))
  }, [])
  async function change(isOn: boolean) {
    if (isOn) {
      const { webpush_public_key } = await request("GET /api/v2/buildinfo")
      const body = await subscribe(webpush_public_key)
      if (body) await request("POST /api/v2/users/{user}/webpush/subscription", { path: { user: "me" }, body })
    } else {
      const endpoint = await unsubscribe()
      if (endpoint) await request("DELETE /api/v2/users/{user}/webpush/subscription", { path: { user: "me" }, body: { endpoint } })
    }
    setState(await pushState())
  }
  const set = (isOn: boolean) =>
    void change(isOn).catch((error: Error) => toast(words.common.failed(words.shell.notify), { text: error.message, kind: "error" }))
  return { state, set }
}
