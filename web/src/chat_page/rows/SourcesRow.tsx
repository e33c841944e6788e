import type { SourcePart } from "../../api/events"
import { Disclosure } from "../../ui/layout/Disclosure"
import { words } from "../../words"
import css from "./row.module.css"

export function SourcesRow({ sources }: { sources: readonly SourcePart[] }) {
  return (
    <Disclosure tone="muted" summary={words.chat.sources(sources.length)}>
      <ul className={css["list"]}>
        {sources.map((source) => (
          <li key={source.url}>
            {/^https?:/.test(source.url) ? (
              <a href={source.url} target="_blank" rel="noreferrer noopener">
                {source.title || source.url}
              </a>
            ) : (
              source.title || source.url
            )}
          </li>
        ))}
      </ul>
    </Disclosure>
  )
}
