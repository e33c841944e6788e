import { useQueryClient } from "@tanstack/react-query"
import { type KeyboardEvent, useRef, useState } from "react"
import { queries } from "../../api/queries"
import { request } from "../../api/request"
import type { Chat } from "../../api/schema"
import { toast } from "../../ui/floating/toast"
import { TextInput } from "../../ui/inputs/TextInput"
import { words } from "../../words"
import css from "./ChatHeader.module.css"

/** The title, to be written over: Enter keeps it, Escape leaves it as it was. */
export function TitleInput({ chat, onDone }: { chat: Chat; onDone: () => void }) {
  const [title, setTitle] = useState(chat.title)
  const client = useQueryClient()
  // Going away takes the focus, which would save once more.
  const isOver = useRef(false)

  function leave(): void {
    isOver.current = true
    onDone()
  }

  async function save(): Promise<void> {
    if (isOver.current) return
    const wanted = title.trim()
    if (wanted === "" || wanted === chat.title) return leave()
    isOver.current = true
    try {
      await request("PATCH /api/experimental/chats/{chat}", { path: { chat: chat.id }, body: { title: wanted } })
      client.setQueryData(queries.chat(chat.id).queryKey, (known) => known && { ...known, title: wanted })
      leave()
    } catch (error) {
      isOver.current = false
      toast(words.common.failed(words.panel.header.renaming), { kind: "error", text: error instanceof Error ? error.message : "" })
    }
  }

  function press(event: KeyboardEvent): void {
    if (event.nativeEvent.isComposing) return
    if (event.key === "Enter") void save()
    else if (event.key === "Escape") leave()
    else return
    event.preventDefault()
    event.stopPropagation()
  }

  return (
    <div className={css["renaming"]}>
      <TextInput
        autoFocus
        aria-label={words.panel.header.titleLabel}
        value={title}
        onChange={setTitle}
        maxLength={200}
        onFocus={(event) => event.currentTarget.select()}
        onBlur={() => void save()}
        onKeyDown={press}
      />
    </div>
  )
}
