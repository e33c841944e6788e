import { Paperclip } from "lucide-react"
import { draftOf, fromContent, giveBack, type OpenedChat, resumeEditing, type SendRow as Row } from "../../chat"
import { Button } from "../../ui/buttons/Button"
import { Icon } from "../../ui/Icon"
import { words } from "../../words"
import files from "./files.module.css"
import { ReferenceRow } from "./ReferenceRow"
import css from "./row.module.css"

/** On its way, and it says so where the time will be. Refused, it can go back to where it was written. */
export function SendRow({ row, opened }: { row: Row; opened: OpenedChat }) {
  const { of } = row
  const written = fromContent(row.content)
  const isAttached = written.references.length + written.files.length > 0
  return (
    <article className={css["user"]} aria-label={words.chat.you}>
      <div className={css["userHead"]}>
        <h2>{words.chat.you}</h2>
        <span role="status">
          {of.state === "sending" && words.chat.sending}
          {of.state === "unanswered" && words.chat.unanswered}
        </span>
      </div>
      {written.text !== "" && <p className={`${css["said"]} ${css["sending"]}`}>{written.text}</p>}
      {isAttached && (
        <div className={css["attached"]}>
          {written.references.map((reference) => (
            <ReferenceRow key={`${reference.file_name}:${reference.start_line}`} reference={reference} />
          ))}
          {written.files.length > 0 && (
            <span className={files["chip"]}>
              <Icon of={Paperclip} />
              {words.cards.files(written.files.length)}
            </span>
          )}
        </div>
      )}
      {of.state === "failed" && <Failed row={row} opened={opened} />}
    </article>
  )
}

function Failed({ row, opened }: { row: Row; opened: OpenedChat }) {
  const { of } = row
  const forget = () => ("key" in of ? opened.actions.forgetSend(of.key) : opened.actions.forgetEdit())
  const takeBack = () => {
    const draft = draftOf(opened.chatId)
    if ("messageId" in of) resumeEditing(draft, of.messageId, fromContent(row.content))
    else giveBack(draft, fromContent(row.content))
    forget()
  }
  return (
    <div className={css["state"]} role="alert">
      <span className={css["problem"]}>
        {words.chat.sendFailed}
        {of.problem && words.cards.because(of.problem.message)}
      </span>
      <Button size="small" onClick={takeBack}>
        {words.chat.backToComposer}
      </Button>
      <Button size="small" kind="quiet" onClick={forget}>
        {words.chat.dismiss}
      </Button>
    </div>
  )
}
