/** What can be done with several chats at once. */
import { Archive, ArchiveRestore, MailCheck, Pin, X } from "lucide-react"
import { useState } from "react"
import { broughtBack } from "../api/bring_back"
import type { Chat } from "../api/schema"
import { IconButton } from "../ui/buttons/IconButton"
import { toast } from "../ui/floating/toast"
import { words } from "../words"
import { isAtWork } from "./chat_menu"
import css from "./Sidebar.module.css"
import type { ChatList } from "./store"

export interface SelectionProps {
  list: ChatList
  chats: readonly Chat[]
  onDone: () => void
}

export function Selection({ list, chats, onDone }: SelectionProps) {
  const [isBusy, setBusy] = useState(false)
  const isArchive = list.state.getState().filters.has("archived")
  const text = words.sidebar

  /** What was refused is said; the rest is done, and can be taken back where that makes sense. */
  async function each(wanted: readonly Chat[], act: (chat: Chat) => Promise<void>, said: (count: number) => string, undo?: (chat: Chat) => Promise<void>) {
    setBusy(true)
    const outcomes: { chat: Chat; error: Error | null }[] = []
    // One after the other: the order of pins is that of the list.
    for (const chat of wanted) outcomes.push({ chat, error: await act(chat).then(() => null, (error: Error) => error) })
    const done = outcomes.filter((one) => one.error === null).map((one) => one.chat)
    const failed = outcomes.find((one) => one.error !== null)
    onDone()
    if (failed) toast(text.someFailed(outcomes.length - done.length), { kind: "error", text: failed.error?.message })
    if (done.length === 0) return
    toast(said(done.length), { action: undo && { label: words.common.undo, run: () => void takeBack(done, undo) } })
  }

  async function takeBack(done: readonly Chat[], undo: (chat: Chat) => Promise<void>) {
    const failed = (await Promise.allSettled(done.map(undo))).flatMap((one) => (one.status === "rejected" ? [one.reason as Error] : []))
    if (failed[0]) toast(text.someFailed(failed.length), { kind: "error", text: failed[0].message })
    await list.readAgain()
  }

  const set = (archived: boolean) => (chat: Chat) => list.update(chat, { archived })
  const idle = chats.filter((chat) => !isAtWork(chat))
  const unread = chats.filter((chat) => chat.has_unread)
  const loose = chats.filter((chat) => chat.pin_order === 0)
  return (
    <div className={css["selection"]} role="toolbar" aria-label={text.selection}>
      <span role="status">{text.selected(chats.length)}</span>
      {isArchive ? (
        <IconButton name={text.unarchive} icon={ArchiveRestore} size="small" isBusy={isBusy} disabled={chats.length === 0} onClick={() => void each(chats, set(false), text.unarchivedMany, set(true))} />
      ) : (
        <>
          <IconButton name={text.archive} icon={Archive} size="small" isBusy={isBusy} disabled={idle.length === 0} onClick={() => void each(idle, set(true), text.archived, (chat) => list.update(chat, broughtBack(chat)))} />
          <IconButton name={text.markRead} icon={MailCheck} size="small" disabled={isBusy || unread.length === 0} onClick={() => void each(unread, (chat) => list.markRead(chat), text.readMany)} />
          <IconButton
            name={text.pin}
            icon={Pin}
            size="small"
            disabled={isBusy || loose.length === 0}
            onClick={() => void each(loose, (chat) => list.update(chat, { pin_order: 1 }), text.pinnedMany, (chat) => list.update(chat, { pin_order: 0 }))}
          />
        </>
      )}
      <IconButton name={text.done} icon={X} size="small" shortcut="Escape" onClick={onDone} />
    </div>
  )
}
