import { GitFork } from "lucide-react"
import { durationMs, type EndRow as Row, type OpenedChat } from "../../chat"
import { CopyButton } from "../../ui/buttons/CopyButton"
import { IconButton } from "../../ui/buttons/IconButton"
import { Duration, Money } from "../../ui/values/figures"
import { words } from "../../words"
import { CopyLink } from "./CopyLink"
import css from "./row.module.css"
import { useFork } from "./use_fork"

/** What a turn took, and its words for the clipboard. */
export function EndRow({ row, opened }: { row: Row; opened: OpenedChat }) {
  const fork = useFork(opened)
  const took = durationMs(row.startedAt, row.endedAt) ?? 0
  const cost = row.spent.costMicros ?? 0
  return (
    <div className={css["end"]}>
      {took > 0 && (
        <span title={words.cards.turnTime}>
          <Duration milliseconds={took} />
        </span>
      )}
      {cost > 0 && (
        <span title={words.chat.turnCost}>
          {took > 0 && words.cards.and}
          <Money micros={cost} />
        </span>
      )}
      <span className={css["actions"]}>
        {row.text !== "" && <CopyButton text={row.text} name={words.cards.copyAnswer} size="small" />}
        <CopyLink chatId={opened.chatId} messageId={row.messageId} />
        <IconButton name={words.chat.forkHere} icon={GitFork} size="small" onClick={() => void fork(row.messageId)} />
      </span>
    </div>
  )
}
