import { useQuery } from "@tanstack/react-query"
import { lazy, type ReactNode, useCallback, useEffect, useMemo, useRef, useState } from "react"
import { useStore } from "zustand"
import { queries } from "../api/queries"
import type { User } from "../api/schema"
import { liveStatus, newestId, openChat, type OpenedChat, timeline } from "../chat"
import { usePanel } from "../panel/opening"
import { PanelPlace } from "../panel/PanelPlace"
import { Banner } from "../ui/status/Banner"
import { words } from "../words"
import { Announcer } from "./Announcer"
import css from "./ChatPage.module.css"
import { ChatUnavailable } from "./ChatUnavailable"
import { Composer } from "./composer/Composer"
import { ChatHeader } from "./header/ChatHeader"
import { FindBar } from "./find/FindBar"
import { closeFind, finding } from "./find/finding"
import { useLinkedMessage } from "./linked_message"
import { usePromptKeys } from "./prompt_keys"
import { Queue } from "./queue/Queue"
import { StatusLine } from "./StatusLine"
import { Timeline, type TimelineHandle } from "./Timeline"
import { useMarkedRead } from "./use_marked_read"

const Panel = lazy(() => import("../panel/Panel").then((module) => ({ default: module.Panel })))

/** One chat. Mounted anew for another one, so that nothing of this leaks into that. */
export function ChatPage({ chatId, me, opener }: { chatId: string; me: User; opener: ReactNode }) {
  const opened = useOpened(chatId)
  return opened && <OpenChat opened={opened} me={me} opener={opener} />
}

/** The store begins with the page, also when React mounts it twice in development. */
function useOpened(chatId: string): OpenedChat | null {
  const [opened, setOpened] = useState<OpenedChat | null>(null)
  useEffect(() => {
    const chat = openChat(chatId)
    setOpened(chat)
    return () => chat.close()
  }, [chatId])
  return opened
}

function OpenChat({ opened, me, opener }: { opened: OpenedChat; me: User; opener: ReactNode }) {
  const { picture, overlay, connection, reading, older } = useStore(opened.store)
  const record = useQuery(queries.chat(opened.chatId))
  const chat = record.data
  const panel = usePanel()
  const handle = useRef<TimelineHandle>(null)
  const marked = useLinkedMessage(handle, reading.state === "read")
  const isFinding = useStore(finding, (state) => state.isOpen)
  useEffect(() => closeFind, [])
  // What is found is in the chat: a panel that lies over it goes beside it, and one that is laid over it ends the search.
  const { isFull, fill } = panel
  const asked = useStore(finding, (state) => state.asked)
  useEffect(() => {
    if (finding.getState().isOpen) fill(false)
  }, [asked, fill])
  useEffect(() => {
    if (isFull) closeFind()
  }, [isFull])
  usePromptKeys(handle)
  const { messages, queue, status: turn } = picture
  const settled = useMemo(() => ({ messages, queue, status: turn }), [messages, queue, turn])
  const toEnd = useCallback(() => handle.current?.toEnd(), [])
  const rows = useMemo(() => timeline(picture, overlay), [picture, overlay])
  const status = liveStatus(picture, {
    connection,
    isQueuedForCapacity: chat?.queued_for_capacity ?? false,
    isStopping: overlay.isStopping,
    isSending: overlay.sends.some((send) => send.state === "unanswered"),
  })

  useMarkedRead(opened.chatId, chat?.owner_id === me.id ? newestId(messages) : 0, turn === "waiting" || turn === "error")
  useEffect(() => {
    document.title = `${chat?.title || words.chat.newTitle} · ${words.common.name}`
  }, [chat?.title])

  if (reading.state === "refused" && messages.length === 0) {
    return <ChatUnavailable refused={reading.refused} opener={opener} opened={opened} sends={overlay.sends} />
  }
  const isMine = !chat || chat.owner_id === me.id
  const page = (
    <main className={css["page"]} inert={isFull && !isFinding}>
      <ChatHeader chat={chat} picture={settled} opener={opener} opened={opened} panel={panel} isMine={isMine} />
      {/* Of the first load: who presses its keys types on at once, and a part that is still to come would leave that to the composer. */}
      {isFinding && <FindBar opened={opened} newest={newestId(messages)} timeline={handle} />}
      <Timeline
        ref={handle}
        timeline={rows}
        isRead={reading.state === "read"}
        hasOlder={picture.hasOlder}
        older={older}
        opened={opened}
        isMine={isMine}
        marked={marked}
        below={
          <>
            <StatusLine status={status} opened={opened} isMine={isMine} />
            {connection.state === "ended" && connection.why === "gone" && <Banner kind="warn" title={words.chat.gone} />}
          </>
        }
      />
      <div className={css["bottom"]}>
        <Queue opened={opened} picture={settled} overlay={overlay} isRead={reading.state === "read"} />
        <Composer opened={opened} chat={chat} picture={settled} overlay={overlay} phase={status.phase} isMine={isMine} onSent={toEnd} />
      </div>
      <Announcer status={status} />
    </main>
  )
  return (
    <div className={css["beside"]}>
      {page}
      {chat && (
        <PanelPlace panel={panel}>
          <Panel chat={chat} opened={opened} picture={settled} panel={panel} isMine={isMine} />
        </PanelPlace>
      )}
    </div>
  )
}
