import { type ReactNode, useEffect, useRef, useState } from "react"
import { useLocation } from "wouter"
import { useStore } from "zustand"
import type { Chat } from "../api/schema"
import { asContent, type Beginning, beginnings, draftOf, type DraftStore, fromContent, giveBack, isNothing, nothingWritten } from "../chat"
import { words } from "../words"
import { ComposerBox } from "./composer/ComposerBox"
import { useModelChoice } from "./composer/model_choice"
import css from "./NewChat.module.css"
import { NotSent, OnItsWay } from "./rows/SendRow"

/** A chat begins with a message. `?prompt=` writes it down already. */
export function NewChat({ opener, onCreated }: { opener: ReactNode; onCreated: (chat: Chat) => void }) {
  const draft = draftOf("new")
  const choice = useModelChoice("new", undefined)
  const [isPlanning, setPlanning] = useState(false)
  const onTheirWay = useStore(beginnings.store)

  useEffect(() => {
    document.title = `${words.chat.newTitle} · ${words.common.name}`
  }, [])
  useEffect(() => beginnings.showRefused(), [])
  useAskedPrompt(draft)
  useLedThere(draft, onCreated)

  function create() {
    const content = asContent(draft.getState())
    if (content.length === 0) return
    const { modelConfigId, reasoningEffort } = choice.changed
    draft.setState(nothingWritten)
    beginnings.begin({
      content,
      client_type: "ui",
      ...(modelConfigId && { model_config_id: modelConfigId }),
      ...(reasoningEffort && { reasoning_effort: reasoningEffort }),
      ...(isPlanning && { plan_mode: "plan" }),
    })
  }

  return (
    <main className={css["page"]}>
      <div className={css["bar"]}>{opener}</div>
      <div className={css["middle"]}>
        <h1 className={css["greeting"]}>{words.chat.greeting}</h1>
        {onTheirWay.map((one) => (
          <BeginningRow key={one.key} of={one} draft={draft} />
        ))}
        <ComposerBox
          draft={draft}
          choice={choice}
          isBusy={false}
          isStopping={false}
          prompts={[]}
          commands={[]}
          onCommand={() => undefined}
          onSend={create}
          plan={{ isOn: isPlanning, set: setPlanning }}
        />
      </div>
    </main>
  )
}

/** Taken out of the address, so that a reload does not bring it again; what was being written stays below it. */
function useAskedPrompt(draft: DraftStore): void {
  const [path, navigate] = useLocation()
  useEffect(() => {
    const asked = new URLSearchParams(location.search)
    const text = asked.get("prompt")
    if (!text) return
    if (draft.getState().text !== text) giveBack(draft, { ...nothingWritten, text })
    asked.delete("prompt")
    navigate(`${path}${asked.size > 0 ? `?${asked.toString()}` : ""}`, { replace: true })
  }, [draft, path, navigate])
}

/** To the chat that has begun, unless something else is being written by then: that would be taken from under one's hands. */
function useLedThere(draft: DraftStore, onCreated: (chat: Chat) => void): void {
  const [, navigate] = useLocation()
  const latest = useRef(onCreated)
  latest.current = onCreated
  useEffect(
    () =>
      beginnings.onBegun((chat) => {
        latest.current(chat)
        if (isNothing(draft.getState())) navigate(`/chats/${chat.id}`)
      }),
    [draft, navigate],
  )
}

function BeginningRow({ of, draft }: { of: Beginning; draft: DraftStore }) {
  const takeBack = () => {
    giveBack(draft, fromContent(of.body.content))
    beginnings.forget(of.key)
  }
  return (
    <OnItsWay content={of.body.content} state={of.state}>
      {of.state === "failed" && (
        <NotSent
          what={words.composer.createFailed}
          problem={of.problem}
          onEdit={takeBack}
          onAgain={() => beginnings.tryAgain(of.key)}
          onDismiss={() => beginnings.forget(of.key)}
        />
      )}
    </OnItsWay>
  )
}
