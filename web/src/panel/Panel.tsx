import { FileDiff, Folder, Gauge, Lock, Maximize2, Minimize2, SquareTerminal, X } from "lucide-react"
import { lazy, memo, type ReactNode, Suspense } from "react"
import type { Chat } from "../api/schema"
import type { OpenedChat, SettledPicture } from "../chat"
import { IconButton } from "../ui/buttons/IconButton"
import { type Tab, Tabs } from "../ui/layout/Tabs"
import { Crash } from "../ui/status/Crash"
import { EmptyState } from "../ui/status/EmptyState"
import { SkeletonLines } from "../ui/status/Skeleton"
import { words } from "../words"
import { ContextTab } from "./context/ContextTab"
import { DiffTab } from "./diff/DiffTab"
import { FilesTab } from "./files/FilesTab"
import type { PanelOpening, PanelTab } from "./opening"
import css from "./Panel.module.css"
import { WorkspaceGate } from "./WorkspaceGate"

const TerminalTab = lazy(() => import("./terminal/TerminalTab").then((module) => ({ default: module.TerminalTab })))

export interface PanelProps {
  chat: Chat
  opened: OpenedChat
  picture: SettledPicture
  panel: PanelOpening
  isMine: boolean
}

/** What lies beside a chat: what it has changed, its files, a terminal, what the model knows. */
export const Panel = memo(function Panel({ chat, opened, picture, panel, isMine }: PanelProps) {
  const owned = (tab: ReactNode) => (isMine ? tab : <EmptyState icon={Lock} title={words.panel.notYours} text={words.panel.notYoursText} />)
  const held = (tab: ReactNode) => (
    <Crash resetKey={`${chat.id} ${panel.tab}`}>
      <Suspense fallback={<Loading />}>{tab}</Suspense>
    </Crash>
  )
  const names = words.panel.tabs
  const tabs: Tab<PanelTab>[] = [
    { value: "diff", label: names.diff, icon: FileDiff, panel: held(owned(<DiffTab chat={chat} />)) },
    {
      value: "files",
      label: names.files,
      icon: Folder,
      panel: held(owned(<WorkspaceGate chat={chat}>{(id) => <FilesTab chatId={chat.id} workspaceId={id} />}</WorkspaceGate>)),
    },
    {
      value: "terminal",
      label: names.terminal,
      icon: SquareTerminal,
      panel: held(owned(<WorkspaceGate chat={chat}>{(id) => <TerminalTab key={id} workspaceId={id} />}</WorkspaceGate>)),
    },
    { value: "context", label: names.context, icon: Gauge, panel: held(<ContextTab chat={chat} picture={picture} opened={opened} isMine={isMine} />) },
  ]
  return (
    <div className={css["panel"]}>
      <Tabs
        label={words.panel.title}
        // A phone has room for the words only.
        tabs={panel.isSheet ? tabs.map((tab) => ({ ...tab, icon: undefined })) : tabs}
        value={panel.tab}
        onChange={panel.show}
        isFilling
        end={
          <span className={css["ends"]}>
            {!panel.isSheet && (
              <IconButton name={words.panel.full} icon={panel.isFull ? Minimize2 : Maximize2} size="small" isPressed={panel.isFull} onClick={() => panel.fill(!panel.isFull)} />
            )}
            <IconButton name={words.header.hidePanel} icon={X} size="small" shortcut="Mod+J" onClick={panel.close} />
          </span>
        }
      />
    </div>
  )
})

function Loading() {
  return (
    <div className={css["loading"]}>
      <SkeletonLines count={6} />
    </div>
  )
}
