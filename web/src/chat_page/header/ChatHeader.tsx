import { useQuery } from "@tanstack/react-query"
import { CornerLeftUp, PanelRightClose, PanelRightOpen } from "lucide-react"
import { memo, type ReactNode, useEffect, useState } from "react"
import { Link } from "wouter"
import { queries } from "../../api/queries"
import type { Chat } from "../../api/schema"
import { newestId, type OpenedChat, type SettledPicture } from "../../chat"
import { type PanelOpening, panelTabs } from "../../panel/opening"
import { useCommands } from "../../ui/floating/commands"
import { Popover } from "../../ui/floating/Popover"
import { IconButton } from "../../ui/buttons/IconButton"
import { Icon } from "../../ui/Icon"
import { Money } from "../../ui/values/figures"
import { moneyText } from "../../ui/values/spans"
import { words } from "../../words"
import { ActionsMenu } from "./ActionsMenu"
import { BranchBadge } from "./BranchBadge"
import css from "./ChatHeader.module.css"
import { ContextMeter } from "./ContextMeter"
import { TitleInput } from "./TitleInput"
import { WorkspacePill } from "./WorkspacePill"

export interface ChatHeaderProps {
  chat: Chat | undefined
  picture: SettledPicture
  opener: ReactNode
  opened: OpenedChat
  panel: PanelOpening
  isMine: boolean
}

export const ChatHeader = memo(function ChatHeader({ chat, picture, opener, opened, panel, isMine }: ChatHeaderProps) {
  const [isRenaming, setRenaming] = useState(false)
  usePanelKey(panel.toggle)
  useCommands(panelTabs.map((tab) => ({ label: `${words.header.showPanel}: ${words.panel.tabs[tab]}`, run: () => panel.show(tab) })))
  return (
    <header className={css["bar"]}>
      {opener}
      {chat?.parent_chat_id && (
        <Link href={`/chats/${chat.parent_chat_id}`} className={css["parent"]} title={words.header.parent} aria-label={words.header.parent}>
          <Icon of={CornerLeftUp} />
        </Link>
      )}
      {isRenaming && chat ? (
        <>
          <h1 className="unseen">{chat.title}</h1>
          <TitleInput chat={chat} onDone={() => setRenaming(false)} />
        </>
      ) : (
        <h1 className={css["title"]} title={chat?.title}>
          {chat?.title || words.chat.newTitle}
        </h1>
      )}
      {/* What comes with an answer stands at the title's end, which gives way: the rest stays where it is. */}
      {chat && <BranchBadge chat={chat} panel={panel} />}
      <Cost chatId={chat?.id} newest={newestId(picture.messages)} />
      {chat && isMine && <WorkspacePill chat={chat} panel={panel} />}
      {chat && <ContextMeter chat={chat} picture={picture} opened={opened} panel={panel} isMine={isMine} />}
      {chat && isMine && <ActionsMenu chat={chat} opened={opened} onRename={() => setRenaming(true)} />}
      <IconButton
        name={panel.isOpen ? words.header.hidePanel : words.header.showPanel}
        icon={panel.isOpen ? PanelRightClose : PanelRightOpen}
        shortcut="Mod+J"
        aria-expanded={panel.isOpen}
        onClick={panel.toggle}
      />
    </header>
  )
})

/** Works in fields too; a terminal takes it for itself. */
function usePanelKey(toggle: () => void): void {
  useEffect(() => {
    const pressed = (event: KeyboardEvent) => {
      const isIt = (event.ctrlKey || event.metaKey) && !event.altKey && !event.shiftKey && event.key.toLowerCase() === "j"
      if (!isIt || event.defaultPrevented) return
      event.preventDefault()
      toggle()
    }
    window.addEventListener("keydown", pressed)
    return () => window.removeEventListener("keydown", pressed)
  }, [toggle])
}

function Cost({ chatId, newest }: { chatId: string | undefined; newest: number }) {
  const cost = useQuery({ ...queries.chatCost(chatId ?? "", newest), enabled: chatId !== undefined })
  const spent = cost.data
  if (!spent?.total_cost_micros) return null
  return (
    <Popover
      label={words.header.cost}
      align="end"
      trigger={
        <button type="button" className={css["figure"]} aria-label={`${words.header.cost}: ${moneyText(spent.total_cost_micros)}`}>
          <Money micros={spent.total_cost_micros} />
        </button>
      }
    >
      <dl className={css["costs"]}>
        <dt>{words.header.cost}</dt>
        <dd>
          <Money micros={spent.total_cost_micros} />
        </dd>
        <dt>{words.header.requests}</dt>
        <dd>{spent.request_count.toLocaleString("en")}</dd>
        <dt>{words.header.perRequest}</dt>
        <dd>
          <Money micros={Math.round(spent.total_cost_micros / Math.max(1, spent.request_count - spent.unpriced_request_count))} />
        </dd>
      </dl>
      <p className={css["costNote"]}>{words.header.costNote}</p>
      {spent.unpriced_request_count > 0 && <p className={css["costNote"]}>{words.header.unpriced(spent.unpriced_request_count)}</p>}
    </Popover>
  )
}
