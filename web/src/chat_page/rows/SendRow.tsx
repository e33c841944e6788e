import { draftOf, fromContent, type OpenedChat, type SendRow as Row } from "../../chat"
import { Button } from "../../ui/buttons/Button"
import { words } from "../../words"
import { ReferenceRow } from "./ReferenceRow"
import css from "./row.module.css"

/** On its way, and it says so. Refused, it can go back to where it was written. */
export function SendRow({ row, opened }: { row: Row; opened: OpenedChat }) {
  const { of } = row
  const written = fromContent(row.content)
  const forget = () => ("key" in of ? opened.actions.forgetSend(of.key) : opened.actions.forgetEdit())
  const takeBack = () => {
    draftOf(opened.chatId).setState(written)
    forget()
  }
  return (
    <article className={css["user"]} aria-label={words.chat.you}>
      <div className={css["userHead"]}>
        <h2>{words.chat.you}</h2>
      </div>
      <p className={`${css["said"]} ${css["sending"]}`}>{written.text}</p>
      <div className={css["attached"]}>
        {written.references.map((reference) => (
          <ReferenceRow key={`${reference.file_name}:${reference.start_line}`} reference={reference} />
        ))}
      </div>
      <div className={css["state"]} role="status">
        {of.state === "sending" && words.chat.sending}
        {of.state === "unanswered" && words.chat.unanswered}
        {of.state === "failed" && (
          <>
            <span className={css["problem"]}>
              {words.chat.sendFailed}: {of.problem?.message}
            </span>
            <Button size="small" onClick={takeBack}>
              {words.chat.backToComposer}
            </Button>
            <Button size="small" kind="quiet" onClick={forget}>
              {words.chat.dismiss}
            </Button>
          </>
        )}
      </div>
    </article>
  )
}
