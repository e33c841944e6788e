import { FileSearch, Globe, type LucideIcon, Search } from "lucide-react"
import { isFields, textOf } from "../../chat/guards"
import { safeAddress } from "../../ui/markdown/links"
import { words } from "../../words"
import type { Verbs } from "../../words/en/cards"
import css from "./card.module.css"
import { CardLine, type CardProps } from "./CardLine"
import { fieldsIn, textsIn } from "./lists"
import { ValueTree } from "./ValueTree"

const looks: Readonly<Record<string, { icon: LucideIcon; verbs: Verbs }>> = {
  web_search: { icon: Search, verbs: words.cards.search },
  web_fetch: { icon: Globe, verbs: words.cards.fetchPage },
  url_context: { icon: Globe, verbs: words.cards.fetchPage },
  file_search: { icon: FileSearch, verbs: words.cards.fileSearch },
}

/** A search that the provider has made itself. Vendors tell it in different shapes. */
export function SearchCard({ call, opened }: CardProps) {
  const look = looks[call.name] ?? { icon: Search, verbs: words.cards.search }
  const asked = questions(call.args)
  const places = foundIn(call.result)
  const isTold = call.state === "done"
  return (
    <CardLine
      {...{ call, opened }}
      icon={look.icon}
      verbs={look.verbs}
      object={asked.length > 0 && words.cards.forQuery(asked.join("”, “"))}
      facts={[isTold && places.length > 0 && words.cards.results(places.length)]}
    >
      {places.length > 0 ? <Places places={places} /> : isTold && hasMore(call.result) ? <ValueTree value={call.result} label={words.cards.result} /> : null}
    </CardLine>
  )
}

interface Place {
  readonly url: string
  readonly title: string
}

function Places({ places }: { places: readonly Place[] }) {
  return (
    <ul className={css["list"]}>
      {places.map(({ url, title }) => (
        <li key={url}>
          <PlaceLink url={url} title={title} />
        </li>
      ))}
    </ul>
  )
}

function PlaceLink({ url, title }: Place) {
  const address = safeAddress(url)
  if (address === null) return title
  return (
    <a href={address} target="_blank" rel="noreferrer noopener">
      {title}
    </a>
  )
}

/** `query`, `queries`, `urls`, or the same one level down. */
function questions(args: unknown): readonly string[] {
  const action = isFields(args) ? args["action"] : undefined
  const one = textOf(args, "query") || textOf(action, "query") || textOf(args, "url") || textOf(action, "url")
  if (one !== "") return [one]
  return [...textsIn(args, "queries"), ...textsIn(args, "urls"), ...textsIn(action, "queries")]
}

function foundIn(result: unknown): readonly Place[] {
  const hits = Array.isArray(result) ? result.filter(isFields) : ["sources", "results", "pages"].flatMap((name) => fieldsIn(result, name))
  const known = new Map<string, Place>()
  for (const hit of hits) {
    const url = textOf(hit, "url") || textOf(hit, "filename")
    if (url !== "" && !known.has(url)) known.set(url, { url, title: textOf(hit, "title") || url })
  }
  return [...known.values()]
}

/** A word that says only that it is over is nothing to look at. */
function hasMore(result: unknown): boolean {
  return isFields(result) && Object.keys(result).some((name) => name !== "status")
}
