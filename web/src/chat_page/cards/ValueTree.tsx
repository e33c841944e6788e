import { isFields } from "../../chat/guards"
import { words } from "../../words"
import { ScrollBox } from "./ScrollBox"
import css from "./ValueTree.module.css"

/** Items of one list or object that are shown. */
const MOST_ITEMS = 200
/** Characters of one text. */
const MOST_CHARACTERS = 20_000
/** Below this, values are shown as JSON. */
const DEEPEST = 8

/** Any JSON, for people: names and values, texts with their line breaks. */
export function ValueTree({ value, label }: { value: unknown; label: string }) {
  return (
    <ScrollBox label={label}>
      <Value value={value} depth={0} />
    </ScrollBox>
  )
}

function Value({ value, depth }: { value: unknown; depth: number }) {
  if (typeof value === "string") return <Text text={value} />
  if (value === null || value === undefined) return <span className={css["aside"]}>{words.cards.none}</span>
  if (typeof value === "boolean") return value ? words.cards.yes : words.cards.no
  if (typeof value !== "object") return String(value)
  if (depth >= DEEPEST) return <Text text={JSON.stringify(value)} />
  if (Array.isArray(value)) return <Items items={value} depth={depth} />
  return isFields(value) ? <Named fields={Object.entries(value)} depth={depth} /> : null
}

function Text({ text }: { text: string }) {
  const more = text.length - MOST_CHARACTERS
  const shown = more > 0 ? text.slice(0, MOST_CHARACTERS) : text
  if (text === "") return <span className={css["aside"]}>{words.cards.nothing}</span>
  return (
    <>
      {shown.includes("\n") ? <pre className={css["text"]}>{shown}</pre> : <span className={css["word"]}>{shown}</span>}
      {more > 0 && <span className={css["aside"]}> {words.cards.shortened(more)}</span>}
    </>
  )
}

function Items({ items, depth }: { items: readonly unknown[]; depth: number }) {
  if (items.length === 0) return <span className={css["aside"]}>{words.cards.nothing}</span>
  return (
    <ol className={css["items"]}>
      {items.slice(0, MOST_ITEMS).map((item, place) => (
        <li key={place}>
          <Value value={item} depth={depth + 1} />
        </li>
      ))}
      <More count={items.length - MOST_ITEMS} isItem />
    </ol>
  )
}

function Named({ fields, depth }: { fields: readonly (readonly [string, unknown])[]; depth: number }) {
  if (fields.length === 0) return <span className={css["aside"]}>{words.cards.nothing}</span>
  return (
    <>
      <dl className={css["named"]}>
        {fields.slice(0, MOST_ITEMS).map(([name, value]) => (
          <div key={name} className={isLong(value) ? css["below"] : css["beside"]}>
            <dt>{name}</dt>
            <dd>
              <Value value={value} depth={depth + 1} />
            </dd>
          </div>
        ))}
      </dl>
      <More count={fields.length - MOST_ITEMS} />
    </>
  )
}

/** Whether a value takes lines of its own, below its name. */
function isLong(value: unknown): boolean {
  if (typeof value === "string") return value.includes("\n")
  return typeof value === "object" && value !== null && Object.keys(value).length > 0
}

function More({ count, isItem = false }: { count: number; isItem?: boolean }) {
  if (count <= 0) return null
  const said = <span className={css["aside"]}>{words.cards.more(count)}</span>
  return isItem ? <li>{said}</li> : said
}
