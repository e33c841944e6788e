import { useQuery } from "@tanstack/react-query"
import { CornerLeftUp } from "lucide-react"
import { type ReactNode, useMemo } from "react"
import { Link } from "wouter"
import { queries } from "../../api/queries"
import type { Chat } from "../../api/schema"
import { contextUse, type OpenedChat, type Picture } from "../../chat"
import { Popover } from "../../ui/floating/Popover"
import { Icon } from "../../ui/Icon"
import { Meter } from "../../ui/status/Meter"
import { Money } from "../../ui/values/figures"
import { words } from "../../words"
import css from "./ChatHeader.module.css"

export interface ChatHeaderProps {
  chat: Chat | undefined
  picture: Picture
  opener: ReactNode
  opened: OpenedChat
}

export function ChatHeader({ chat, picture, opener }: ChatHeaderProps) {
  return (
    <header className={css["bar"]}>
      {opener}
      {chat?.parent_chat_id && (
        <Link href={`/chats/${chat.parent_chat_id}`} className={css["parent"]} title={words.header.parent} aria-label={words.header.parent}>
          <Icon of={CornerLeftUp} />
        </Link>
      )}
      <h1 className={css["title"]}>{chat?.title || words.chat.newTitle}</h1>
      <Cost chatId={chat?.id} answers={picture.messages.length} />
      <Context picture={picture} />
    </header>
  )
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

/** How full the context is. The figure is behind it, for those who want to know. */
function Context({ picture }: { picture: Picture }) {
  const use = useMemo(() => contextUse(picture.messages), [picture.messages])
  if (use.limit === null) return null
  const text =
    use.used === null || use.percent === null
      ? words.header.contextUnknown
      : words.header.contextUse(use.used.toLocaleString("en"), use.limit.toLocaleString("en"), Math.round(use.percent))
  return (
    <Popover
      label={words.header.context}
      align="end"
      trigger={
        <button type="button" className={css["context"]} aria-label={`${words.header.context}: ${text}`}>
          <Meter label={words.header.context} value={use.used ?? 0} max={use.limit} text={text} />
        </button>
      }
    >
      {text}
    </Popover>
  )
}
