import { Brain } from "lucide-react"
import { memo } from "react"
import { durationMs, type OpenedChat, type ReasoningBlock } from "../../chat"
import { Markdown } from "../../ui/markdown/Markdown"
import { durationText } from "../../ui/values/spans"
import { words } from "../../words"
import { Going } from "../cards/Going"
import { FoldedLine } from "./FoldedLine"
import css from "./row.module.css"

/** How long a thought took is worth a word from here on. */
const LONG_MS = 1000

/** Muted and folded, with how long it took. */
export const Thought = memo(function Thought({ thought, opened }: { thought: ReasoningBlock; opened: OpenedChat }) {
  const { text, isStreaming, startedAt, endedAt } = thought
  const took = durationMs(startedAt, endedAt)
  return (
    <FoldedLine
      opened={opened}
      lineKey={thought.key}
      icon={Brain}
      tone="muted"
      summary={isStreaming ? words.chat.thinking : words.chat.thought(took === null || took < LONG_MS ? null : durationText(took))}
      end={isStreaming ? <Going since={startedAt} /> : null}
    >
      {text.trim() !== "" && (
        <div className={css["thought"]}>
          <Markdown text={text} isStreaming={isStreaming} size="small" />
        </div>
      )}
    </FoldedLine>
  )
})
