import type { Chat } from "../../api/schema"
import type { ContextUse } from "../../chat"
import { Button } from "../../ui/buttons/Button"
import { words } from "../../words"
import css from "./Context.module.css"
import { Drift } from "./Drift"
import { Fullness } from "./Fullness"

export interface ContextSummaryProps {
  chat: Chat
  use: ContextUse
  isMine: boolean
  onDetails: () => void
  /** Undefined while it can't be asked for. */
  onCompact: (() => void) | undefined
}

/** The inspector in a few lines. */
export function ContextSummary({ chat, use, isMine, onDetails, onCompact }: ContextSummaryProps) {
  const resources = chat.context?.resources ?? []
  const count = (kind: string) => resources.filter((one) => one.kind === kind).length
  return (
    <div className={css["summary"]}>
      <Fullness chat={chat} use={use} />
      {chat.context && <p className={css["beside"]}>{words.panel.context.counts(count("instruction_file"), count("skill"))}</p>}
      <Drift chat={chat} isMine={isMine} />
      <div className={css["buttons"]}>
        <Button size="small" onClick={onDetails}>
          {words.panel.context.details}
        </Button>
        {isMine && (
          <Button size="small" onClick={onCompact} disabled={onCompact === undefined}>
            {words.panel.context.compact}
          </Button>
        )}
      </div>
    </div>
  )
}
