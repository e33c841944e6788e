import type { Picture } from "../../chat"
import { words } from "../../words"
import css from "./Context.module.css"
import { figure } from "./Fullness"

/** What the newest answer was made of, in tokens. */
export function LastPrompt({ messages }: { messages: Picture["messages"] }) {
  const usage = messages.findLast((message) => message.role === "assistant" && message.usage)?.usage
  if (!usage) return null
  const text = words.panel.context
  const parts: [string, number | null][] = [
    [text.fresh, usage.input_tokens],
    [text.cached, usage.cache_read_tokens],
    [text.written, usage.cache_creation_tokens],
    [text.answered, usage.output_tokens],
  ]
  return (
    <section aria-label={text.prompt} className={css["section"]}>
      <h2 className={css["title"]}>{text.prompt}</h2>
      <dl className={css["figures"]}>
        {parts.map(([name, count]) =>
          count === null ? null : (
            <div key={name} className={css["figure"]}>
              <dt>{name}</dt>
              <dd>{figure(count)}</dd>
            </div>
          ),
        )}
      </dl>
    </section>
  )
}
