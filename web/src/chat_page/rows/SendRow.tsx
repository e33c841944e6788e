import { Paperclip } from "lucide-react"
import type { InputPart, Problem } from "../../api/schema"
import { draftOf, fromContent, giveBack, type OpenedChat, resumeEditing, type Send, type SendRow as Row, type SendState } from "../../chat"
import { Button } from "../../ui/buttons/Button"
import { Icon } from "../../ui/Icon"
import { words } from "../../words"
import files from "./files.module.css"
import css from "./row.module.css"
import { Said } from "./Said"

/** A message or an edit of this chat that is on its way, or was refused. */
export function SendRow({ row, opened }: { row: Row; opened: OpenedChat }) {
  const { of } = row
  return (
    <OnItsWay content={row.content} state={of.state}>
      {"problem" in of && of.state === "failed" && <Refusal of={of} opened={opened} />}
    </OnItsWay>
  )
}

function Refusal({ of, opened }: { of: Send; opened: OpenedChat }) {
  const takeBack = () => {
    const draft = draftOf(opened.chatId)
    if (of.replaces === null) giveBack(draft, fromContent(of.content))
    else resumeEditing(draft, of.replaces, fromContent(of.content))
    opened.actions.forgetSend(of.key)
  }
  return (
    <NotSent
      what={of.replaces === null ? words.chat.sendFailed : words.chat.editFailed}
      problem={of.problem}
      onEdit={takeBack}
      onAgain={() => opened.actions.tryAgain(of.key)}
      onDismiss={() => opened.actions.forgetSend(of.key)}
    />
  )
}

/** It says so where the time will be. */
export function OnItsWay({ content, state, children }: { content: readonly InputPart[]; state: SendState; children?: React.ReactNode }) {
  const written = fromContent(content)
  return (
    <article className={css["user"]} aria-label={words.chat.you}>
      <div className={css["userHead"]}>
        <h2>{words.chat.you}</h2>
        <span role="status">
          {state === "sending" && words.chat.sending}
          {state === "unanswered" && words.chat.unanswered}
        </span>
      </div>
      <Said written={written} isSending>
        {written.files.length > 0 && (
          <span className={files["chip"]}>
            <Icon of={Paperclip} />
            {words.cards.files(written.files.length)}
          </span>
        )}
      </Said>
      {children}
    </article>
  )
}

export interface NotSentProps {
  what: string
  problem: Problem | null
  onEdit: () => void
  onAgain: () => void
  onDismiss: () => void
}

/** Why, and what can be done with the words: nothing of them goes away by itself. */
export function NotSent({ what, problem, onEdit, onAgain, onDismiss }: NotSentProps) {
  return (
    <div className={css["state"]} role="alert">
      <span className={css["problem"]}>
        {what}
        {problem && words.cards.because(problem.message)}
      </span>
      <Button size="small" onClick={onAgain}>
        {words.common.tryAgain}
      </Button>
      <Button size="small" onClick={onEdit}>
        {words.chat.backToComposer}
      </Button>
      <Button size="small" kind="quiet" onClick={onDismiss}>
        {words.chat.dismiss}
      </Button>
    </div>
  )
}
