import { type ReactNode, useEffect, useRef, useState } from "react"
import { useLocation } from "wouter"
import { newKey } from "../api/new_key"
import { request } from "../api/request"
import type { Chat } from "../api/schema"
import { asContent, draftOf, nothingWritten } from "../chat"
import { toast } from "../ui/floating/toast"
import { words } from "../words"
import { ComposerBox } from "./composer/ComposerBox"
import { useModelChoice } from "./composer/model_choice"
import css from "./NewChat.module.css"

/** A chat begins with a message. `?prompt=` writes it down already. */
export function NewChat({ opener, onCreated }: { opener: ReactNode; onCreated: (chat: Chat) => void }) {
  const draft = draftOf("new")
  const choice = useModelChoice(undefined)
  const [, navigate] = useLocation()
  const [isBusy, setBusy] = useState(false)
  const last = useRef({ asked: "", key: "" })

  useEffect(() => {
    document.title = `${words.chat.newTitle} · ${words.common.name}`
    const prompt = new URLSearchParams(location.search).get("prompt")
    if (prompt) draft.setState({ text: prompt })
  }, [draft])

  /** The same message has the same key: sent twice, it makes one chat. Another one makes another. */
  async function create() {
    if (isBusy) return
    const written = draft.getState()
    setBusy(true)
    try {
      const { modelConfigId, reasoningEffort } = choice.changed
      const body = {
        content: asContent(written),
        client_type: "ui" as const,
        ...(modelConfigId && { model_config_id: modelConfigId }),
        ...(reasoningEffort && { reasoning_effort: reasoningEffort }),
      }
      const asked = JSON.stringify(body)
      if (asked !== last.current.asked) last.current = { asked, key: newKey() }
      const chat = await request("POST /api/experimental/chats", { body, idempotencyKey: last.current.key })
      last.current = { asked: "", key: "" }
      draft.setState(nothingWritten)
      onCreated(chat)
      navigate(`/chats/${chat.id}`)
    } catch (error) {
      toast(words.composer.createFailed, { text: (error as Error).message, kind: "error", id: "create" })
    } finally {
      setBusy(false)
    }
  }

  return (
    <main className={css["page"]}>
      <div className={css["bar"]}>{opener}</div>
      <div className={css["middle"]}>
        <h1 className={css["greeting"]}>{words.chat.greeting}</h1>
        <ComposerBox draft={draft} choice={choice} isBusy={false} isStopping={false} prompts={[]} commands={[]} onCommand={() => undefined} onSend={() => void create()} />
      </div>
    </main>
  )
}
