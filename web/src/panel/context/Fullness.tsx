import type { Chat } from "../../api/schema"
import type { ContextUse } from "../../chat"
import { Meter } from "../../ui/status/Meter"
import { words } from "../../words"
import css from "./Context.module.css"
import { useThreshold } from "./context_query"

/** How much of the context is used, and when it is summarized. */
export function Fullness({ chat, use }: { chat: Chat; use: ContextUse }) {
  const threshold = useThreshold(chat)
  const text = words.panel.context
  const said = use.used === null ? text.unknown : use.limit === null || use.percent === null ? text.usedOnly(figure(use.used)) : text.used(figure(use.used), figure(use.limit), Math.round(use.percent))
  return (
    <div className={css["fullness"]}>
      <p>{said}</p>
      {use.limit !== null && <Meter label={text.use} value={use.used ?? 0} max={use.limit} text={said} />}
      {threshold !== null && use.limit !== null && (
        <p className={css["beside"]}>{threshold >= 100 ? text.never : text.threshold(threshold, figure(Math.round((use.limit * threshold) / 100)))}</p>
      )}
    </div>
  )
}

export function figure(count: number): string {
  return count.toLocaleString("en")
}
