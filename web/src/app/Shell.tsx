import { PanelLeftOpen } from "lucide-react"
import { useQueryClient } from "@tanstack/react-query"
import { lazy, Suspense, useEffect, useMemo, useState } from "react"
import { Redirect, Route, Switch, useLocation, useRoute } from "wouter"
import { patchChat } from "../api/queries"
import type { User } from "../api/schema"
import { resumeUnsent } from "../chat"
import { sidebarOpen, sidebarWidth, useKept } from "../browser/kept"
import { ChatPage } from "../chat_page/ChatPage"
import { openFind } from "../chat_page/find/finding"
import { NewChat } from "../chat_page/NewChat"
import { Sidebar } from "../sidebar/Sidebar"
import { makeChatList } from "../sidebar/store"
import { UserMenu } from "../sidebar/UserMenu"
import { IconButton } from "../ui/buttons/IconButton"
import { Resizer } from "../ui/layout/Resizer"
import { words } from "../words"
import { Crash } from "../ui/status/Crash"
import { useIsNarrow } from "./narrow"
import { NewVersion } from "./NewVersion"
import { NotFound } from "./NotFound"
import { Offline } from "./Offline"
import css from "./Shell.module.css"
import { type Shortcut, useShortcuts } from "./shortcuts"
import { useIsOutdated } from "./version"

const PhoneSheet = lazy(() => import("./PhoneSheet").then((module) => ({ default: module.PhoneSheet })))
const palette = () => import("./Palette")
const Palette = lazy(() => palette().then((module) => ({ default: module.Palette })))
const SettingsPage = lazy(() => import("../settings/SettingsPage").then((module) => ({ default: module.SettingsPage })))
const UsagePage = lazy(() => import("../settings/usage/UsagePage").then((module) => ({ default: module.UsagePage })))
const Workspaces = lazy(() => import("../settings/admin/Workspaces").then((module) => ({ default: module.Workspaces })))
const ShortcutSheet = lazy(() => import("./ShortcutSheet").then((module) => ({ default: module.ShortcutSheet })))

// Of the list of chats, in pixels.
const narrowest = 200
const widest = 480
const usualWidth = 260

/** The page of someone who is signed in: the list of chats, and what was chosen from it. */
export function Shell({ me }: { me: User }) {
  const list = useMemo(() => makeChatList(), [])
  const client = useQueryClient()
  const [location, navigate] = useLocation()
  const [isChat, params] = useRoute("/chats/:id")
  const [isOpen, setOpen] = useKept(sidebarOpen)
  const [width, setWidth] = useKept(sidebarWidth)
  const [isSheetOpen, setSheetOpen] = useState(false)
  const [floating, setFloating] = useState<"palette" | "shortcuts" | null>(null)
  const isNarrow = useIsNarrow()
  const isOutdated = useIsOutdated(list)
  const chat = isChat ? params.id : null

  useEffect(() => list.start((newer) => patchChat(client, newer)), [list, client])
  useEffect(() => list.opened(chat), [list, chat])
  useEffect(resumeUnsent, [])
  useEffect(() => setSheetOpen(false), [location])
  // Who presses the keys of the palette types on at once: it has to be there by then.
  useEffect(() => {
    const timer = setTimeout(() => void palette().catch(() => null), 1000)
    return () => clearTimeout(timer)
  }, [])

  const shortcuts: Shortcut[] = [
    { keys: "Mod+K", name: words.shell.search, run: () => setFloating("palette"), inFields: true },
    { keys: "Alt+N", name: words.shell.newChat, run: () => navigate("/"), inFields: true },
    { keys: "Mod+B", name: words.shell.openSidebar, run: () => (isNarrow ? setSheetOpen(true) : setOpen(!isOpen)), inFields: true },
    ...(isChat ? [{ keys: "Mod+F", name: words.chat.find.title, run: openFind, inFields: true }] : []),
    { keys: "?", name: words.shell.shortcuts, run: () => setFloating("shortcuts") },
  ]
  useShortcuts(shortcuts)

  const sidebar = (onHide?: () => void) => (
    <Sidebar
      list={list}
      onSearch={() => setFloating("palette")}
      onHide={onHide}
      footer={<UserMenu me={me} onShortcuts={() => setFloating("shortcuts")} />}
    />
  )
  const opener =
    isNarrow || !isOpen ? (
      <IconButton
        name={words.shell.openSidebar}
        icon={PanelLeftOpen}
        shortcut="Mod+B"
        onClick={() => (isNarrow ? setSheetOpen(true) : setOpen(true))}
      />
    ) : null

  return (
    <div className={css["shell"]}>
      <a href="#conversation" className={css["skip"]}>
        {words.shell.skip}
      </a>
      {!isNarrow && isOpen && (
        <div className={css["side"]} style={{ width }}>
          {sidebar(() => setOpen(false))}
          <Resizer of={words.sidebar.ofList} side="left" width={width} min={narrowest} max={widest} usual={usualWidth} onChange={setWidth} />
        </div>
      )}
      {isNarrow && (
        <Suspense>
          <PhoneSheet isOpen={isSheetOpen} onClose={() => setSheetOpen(false)} title={words.sidebar.title} side="left" isTitleHidden>
            {sidebar()}
          </PhoneSheet>
        </Suspense>
      )}
      <div className={css["main"]} id="conversation" tabIndex={-1}>
        <Offline />
        {isOutdated && <NewVersion />}
        <Crash resetKey={location}>
          <Switch>
            <Route path="/">
              <NewChat opener={opener} onCreated={(created) => list.add(created)} />
            </Route>
            {/* As clients of the reference, and pushed messages, have it. */}
            <Route path="/agents/:id">{({ id }) => <Redirect to={`/chats/${id}`} replace />}</Route>
            <Route path="/chats/:id">{({ id }) => <ChatPage key={id} chatId={id} me={me} opener={opener} />}</Route>
            <Route path="/settings/*?">
              <Suspense>
                <SettingsPage me={me} opener={opener} />
              </Suspense>
            </Route>
            <Route path="/usage">
              <Suspense>
                <UsagePage me={me} opener={opener} />
              </Suspense>
            </Route>
            <Route path="/workspaces">
              <Suspense>
                <Workspaces me={me} opener={opener} />
              </Suspense>
            </Route>
            {/* What is set up is for admins, who do not come here. */}
            <Route path="/setup/*?">
              <Redirect to="/" replace />
            </Route>
            <Route>
              <NotFound opener={opener} />
            </Route>
          </Switch>
        </Crash>
      </div>
      <Crash resetKey={location}>
        <Suspense>
          {floating === "palette" && <Palette me={me} onClose={() => setFloating(null)} shortcuts={shortcuts} />}
          {floating === "shortcuts" && <ShortcutSheet onClose={() => setFloating(null)} shortcuts={shortcuts} />}
        </Suspense>
      </Crash>
    </div>
  )
}
