import { GitFork } from "lucide-react"
import { useLocation } from "wouter"
import { durationMs, type EndRow as Row, type OpenedChat } from "../../chat"
import { CopyButton } from "../../ui/buttons/CopyButton"
import { IconButton } from "../../ui/buttons/IconButton"
import { Duration, Money } from "../../ui/values/figures"
import { words } from "../../words"
import css from "./row.module.css"

/** What a turn took, and its words for the clipboard. */
export function EndRow({ row, opened }: { row: Row; opened: OpenedChat }) {
  const [, navigate] = useLocation()
  const took = durationMs(row.startedAt, row.endedAt)
  return (
    <div className={css["end"]}>
      {took !== null && <Duration milliseconds={took} />}
      {row.spent.costMicros !== null && row.spent.costMicros > 0 && (
        <span title={words.chat.turnCost}>
          <Money micros={row.spent.costMicros} />
        </span>
      )}
      <span className={css["actions"]}>
        {row.text !== "" && <CopyButton text={row.text} name={words.chat.copyMessage} size="small" />}
        <IconButton
          name={words.chat.forkHere}
          icon={GitFork}
          size="small"
          onClick={() => void opened.actions.fork(row.messageId).then((chat) => navigate(`/chats/${chat.id}`))}
        />
      </span>
    </div>
  )
}
