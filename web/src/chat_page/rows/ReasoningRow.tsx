import { durationMs, type ReasoningRow as Row } from "../../chat"
import { Disclosure } from "../../ui/layout/Disclosure"
import { Markdown } from "../../ui/markdown/Markdown"
import { durationText } from "../../ui/values/spans"
import { words } from "../../words"

/** Muted and folded, with how long it took. */
export function ReasoningRow({ row }: { row: Row }) {
  return (
    <>
      {row.thoughts.map((thought) => {
        const took = durationMs(thought.startedAt, thought.endedAt)
        return (
          <Disclosure
            key={thought.key}
            tone="muted"
            summary={thought.isStreaming ? words.chat.thinking : words.chat.thought(took === null ? null : durationText(took))}
          >
            {thought.text.trim() !== "" && <Markdown text={thought.text} isStreaming={thought.isStreaming} />}
          </Disclosure>
        )
      })}
    </>
  )
}
