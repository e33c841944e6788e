import { useQuery } from "@tanstack/react-query"
import { CornerLeftUp, PanelRightClose, PanelRightOpen } from "lucide-react"
import { type ReactNode, useEffect, useState } from "react"
import { Link } from "wouter"
import { queries } from "../../api/queries"
import type { Chat } from "../../api/schema"
import type { OpenedChat, Picture } from "../../chat"
import type { PanelOpening } from "../../panel/opening"
import { IconButton } from "../../ui/buttons/IconButton"
import { Icon } from "../../ui/Icon"
import { Money } from "../../ui/values/figures"
import { words } from "../../words"
import { ActionsMenu } from "./ActionsMenu"
import { BranchBadge } from "./BranchBadge"
import css from "./ChatHeader.module.css"
import { ContextMeter } from "./ContextMeter"
import { TitleInput } from "./TitleInput"
import { WorkspacePill } from "./WorkspacePill"

export interface ChatHeaderProps {
  chat: Chat | undefined
  picture: Picture
  opener: ReactNode
  opened: OpenedChat
  panel: PanelOpening
  isMine: boolean
}

export function ChatHeader({ chat, picture, opener, opened, panel, isMine }: ChatHeaderProps) {
  const [isRenaming, setRenaming] = useState(false)
  usePanelKey(panel.toggle)
  return (
    <header className={css["bar"]}>
      {opener}
      {chat?.parent_chat_id && (
        <Link href={`/chats/${chat.parent_chat_id}`} className={css["parent"]} title={words.header.parent} aria-label={words.header.parent}>
          <Icon of={CornerLeftUp} />
        </Link>
      )}
      {isRenaming && chat ? (
        <TitleInput chat={chat} onDone={() => setRenaming(false)} />
      ) : (
        <h1 className={css["title"]} title={chat?.title}>
          {chat?.title || words.chat.newTitle}
        </h1>
      )}
      {chat && isMine && <WorkspacePill chat={chat} panel={panel} />}
      {chat && <BranchBadge chat={chat} panel={panel} />}
      <Cost chatId={chat?.id} answers={picture.messages.length} />
      {chat && <ContextMeter chat={chat} picture={picture} panel={panel} isMine={isMine} />}
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
}

/** Works in fields and terminals too: it is how one leaves them. */
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

function Cost({ chatId, answers }: { chatId: string | undefined; answers: number }) {
  const cost = useQuery({ ...queries.chatCost(chatId ?? "", answers), enabled: chatId !== undefined })
  const micros = cost.data?.total_cost_micros
  if (!micros) return null
  return (
    <span className={css["figure"]} title={words.header.cost}>
      <Money micros={micros} />
    </span>
  )
}
