import { useQuery, useQueryClient } from "@tanstack/react-query"
import { memo, useState } from "react"
import { queries } from "../../api/queries"
import { request } from "../../api/request"
import type { Chat } from "../../api/schema"
import { asContent, draftOf, endEditing, isWaiting, type LiveStatus, newestId, nothingWritten, type OpenedChat, type Overlay, promptTexts, type SettledPicture } from "../../chat"
import { Button } from "../../ui/buttons/Button"
import { toast } from "../../ui/floating/toast"
import { Banner } from "../../ui/status/Banner"
import { words } from "../../words"
import { useFork } from "../rows/use_fork"
import { ComposerBox } from "./ComposerBox"
import { useModelChoice } from "./model_choice"
import type { Command } from "./SlashMenu"
import { usePlanning } from "./planning"

export interface ComposerProps {
  opened: OpenedChat
  chat: Chat | undefined
  picture: SettledPicture
  overlay: Overlay
  phase: LiveStatus["phase"]
  isMine: boolean
  onSent: () => void
}

/** Skills come first: one that has the name of a command is what is meant. */
function commandsOf(chat: Chat | undefined, isBusy: boolean): Command[] {
  const skills = (chat?.context?.resources ?? []).flatMap(({ kind, status, name, description }): Command[] =>
    kind === "skill" && status === "ok" && name ? [{ name, text: description ?? "", isSkill: true }] : [],
  )
  const compact = { name: "compact", text: isBusy ? words.composer.compactLater : words.header.compactHint, isDisabled: isBusy }
  return skills.some(({ name }) => name === compact.name) ? skills : [compact, ...skills]
}

/** The composer of a chat that there is: sends, queues, stops, replaces. */
export const Composer = memo(function Composer({ opened, chat, picture, overlay, phase, isMine, onSent }: ComposerProps) {
  const draft = draftOf(opened.chatId)
  const choice = useModelChoice(opened.chatId, chat)
  const plan = usePlanning(chat)
  const client = useQueryClient()
  const fork = useFork(opened)
  const [isForking, setForking] = useState(false)
  const prompts = useQuery({ ...queries.prompts(opened.chatId, newestId(picture.messages)), enabled: isMine })
  const isBusy = ["streaming", "starting", "retrying", "interrupting", "queued"].includes(phase) || picture.status === "running"

  if (chat?.archived) {
    const takeOut = async () => {
      try {
        await request("PATCH /api/experimental/chats/{chat}", { path: { chat: chat.id }, body: { archived: false } })
        await client.invalidateQueries({ queryKey: queries.chat(chat.id).queryKey })
      } catch (error) {
        toast(words.common.failed(words.sidebar.unarchive), { text: (error as Error).message, kind: "error" })
      }
    }
    return <Banner isAnnounced={false} title={words.chat.archived} actions={<Button onClick={() => void takeOut()}>{words.sidebar.unarchive}</Button>} />
  }
  if (!isMine && chat) {
    const forkAll = async () => {
      setForking(true)
      await fork()
      setForking(false)
    }
    const owner = chat.owner_name || chat.owner_username || ""
    return (
      <Banner
        isAnnounced={false}
        title={words.chat.notYours(owner)}
        actions={
          <Button isBusy={isForking} onClick={() => void forkAll()}>
            {words.chat.fork}
          </Button>
        }
      />
    )
  }

  function send() {
    const written = draft.getState()
    const { editing, recalled } = written
    const content = asContent(written)
    if (content.length === 0) return
    if (editing) void opened.actions.edit(editing.messageId, content, choice.changed)
    else opened.actions.send(content, { ...choice.changed, ...(plan && { planMode: plan.isOn ? ("plan" as const) : ("" as const) }) })
    // What an earlier message has hidden comes back when that is sent again.
    draft.setState({ ...(editing ? editing.before : nothingWritten), ...(recalled && { text: recalled.hidden }), editing: null, recalled: null })
    onSent()
  }

  const stop = () => void opened.actions.interrupt().catch((error: Error) => toast(words.composer.stopFailed, { text: error.message, kind: "error" }))
  const command = async (name: string) => {
    if (name === "compact") await opened.actions.compact()
  }
  return (
    <ComposerBox
      draft={draft}
      choice={choice}
      isBusy={isBusy}
      isStopping={phase === "interrupting" || overlay.isStopping}
      prompts={promptTexts(prompts.data?.prompts ?? [], picture.messages)}
      commands={commandsOf(chat, isBusy)}
      plan={plan}
      onCommand={(name) => void command(name).catch((error: Error) => toast(words.common.failed(`/${name}`), { text: error.message, kind: "error" }))}
      onSend={send}
      onStop={stop}
      onCancelEdit={() => endEditing(draft)}
      onSendHead={() => {
        const head = picture.queue[0]
        // What was just sent may be the first by the time it is answered: until then nobody knows which one is meant.
        if (head && !isWaiting(overlay)) void opened.actions.promote(head.id).catch((error: Error) => toast(words.queue.failed, { text: error.message, kind: "error" }))
      }}
    />
  )
})
