import type { TextBlock } from "../../chat"
import { Markdown } from "../../ui/markdown/Markdown"
import css from "./row.module.css"

export function TextRow({ row }: { row: TextBlock }) {
  return (
    <div className={css["text"]} data-said>
      <Markdown text={row.text} isStreaming={row.isStreaming} />
    </div>
  )
}
