import { FoldVertical } from "lucide-react"
import type { SummaryRow as Row } from "../../chat"
import { Disclosure } from "../../ui/layout/Disclosure"
import { Markdown } from "../../ui/markdown/Markdown"
import { words } from "../../words"
import css from "./row.module.css"

/** A compaction: while it runs, and what came of it. */
export function SummaryRow({ row }: { row: Row }) {
  const text = words.chat
  if (row.state === "running" || row.state === "writing") return <Disclosure icon={FoldVertical} tone="muted" summary={<span role="status">{text.summarizing}</span>} />
  if (row.state !== "done") {
    return (
      <Disclosure icon={FoldVertical} tone="error" summary={text.summaryFailed}>
        {row.error}
      </Disclosure>
    )
  }
  return (
    <Disclosure icon={FoldVertical} tone="muted" summary={row.isManual ? text.summarizedManually : text.summarized}>
      <p className={css["muted"]}>{text.summaryText}</p>
      <Markdown text={row.summary} />
    </Disclosure>
  )
}
