import { FoldVertical } from "lucide-react"
import { durationMs, type OpenedChat, type SummaryRow as Row } from "../../chat"
import { Markdown } from "../../ui/markdown/Markdown"
import { durationText } from "../../ui/values/spans"
import { words } from "../../words"
import { Going } from "../cards/Going"
import { FoldedLine } from "./FoldedLine"
import css from "./row.module.css"

/** A compaction: while it runs, and what came of it. */
export function SummaryRow({ row, opened }: { row: Row; opened: OpenedChat }) {
  const text = words.chat
  const line = { opened, lineKey: row.key, icon: FoldVertical }
  const took = durationMs(row.call.startedAt, row.call.endedAt)
  switch (row.state) {
    case "writing":
    case "running":
      return <FoldedLine {...line} tone="muted" summary={<span role="status">{text.summarizing}</span>} end={<Going since={row.call.startedAt} />} />
    case "interrupted":
      return <FoldedLine {...line} tone="muted" summary={text.summarizing} end={words.cards.stopped} />
    case "failed":
      return (
        <FoldedLine {...line} tone="error" summary={text.summaryFailed}>
          {row.error && <p className={css["problem"]}>{row.error}</p>}
        </FoldedLine>
      )
    case "done":
      return (
        <FoldedLine
          {...line}
          tone="muted"
          summary={row.isManual ? text.summarizedManually : text.summarized}
          end={[row.percent !== null && words.cards.contextWas(Math.round(row.percent)), took !== null && took >= 1000 && durationText(took)]
            .filter(Boolean)
            .join(words.cards.and)}
        >
          <p className={css["hint"]}>{text.summaryText}</p>
          <div className={css["thought"]}>
            <Markdown text={row.summary} size="small" />
          </div>
        </FoldedLine>
      )
  }
}
