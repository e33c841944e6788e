import { Link2 } from "lucide-react"
import type { SourcePart } from "../../api/events"
import type { OpenedChat, SourcesBlock } from "../../chat"
import { safeAddress } from "../../ui/markdown/links"
import { words } from "../../words"
import { FoldedLine } from "./FoldedLine"
import css from "./row.module.css"

/** What an answer stands on. */
export function SourcesRow({ row, opened }: { row: SourcesBlock; opened: OpenedChat }) {
  return (
    <FoldedLine opened={opened} lineKey={row.key} icon={Link2} tone="muted" summary={words.chat.sources(row.sources.length)}>
      <ol className={css["list"]}>
        {row.sources.map((source) => (
          <li key={source.url}>
            <Source source={source} />
          </li>
        ))}
      </ol>
    </FoldedLine>
  )
}

function Source({ source: { url, title } }: { source: SourcePart }) {
  const address = safeAddress(url)
  if (address === null) return title || url
  return (
    <>
      <a href={address} target="_blank" rel="noreferrer noopener">
        {title || url}
      </a>{" "}
      {title && <span className={css["muted"]}>{new URL(address).host}</span>}
    </>
  )
}
