import type { Token, Tokens } from "marked"
import { memo, type ReactNode } from "react"
import remend from "remend"
import { words } from "../../words"
import { classes } from "../classes"
import { CodeBlock } from "../code/CodeBlock"
import { Formula } from "./Formula"
import { isMath, isPlain, tokensOf } from "./grammar"
import { inline } from "./Inline"
import css from "./Markdown.module.css"

export interface MarkdownBlockProps {
  raw: string
  definitions: string
  /** Of a heading at the top of the text, as HTML counts. */
  headingLevel: number | null
  /** More of it may come. */
  isUnfinished: boolean
}

/** Code is never repaired: it may be long, and an open fence ends with the text anyway. */
const fenced = /^ {0,3}(```|~~~)/

/** One block of a text; drawn again only when its own source changes. */
export const MarkdownBlock = memo(function MarkdownBlock({ raw, definitions, headingLevel, isUnfinished }: MarkdownBlockProps) {
  const source = isUnfinished && !fenced.test(raw) ? remend(raw, { linkMode: "text-only" }) : raw
  const tokens = tokensOf(definitions ? `${definitions}\n\n${source}` : source)
  return tokens.map((token, place) => <Block key={place} token={token} headingLevel={headingLevel} isUnfinished={isUnfinished} />)
})

interface BlockProps {
  token: Token
  headingLevel?: number | null
  isUnfinished: boolean
}

function Block({ token, headingLevel = null, isUnfinished }: BlockProps): ReactNode {
  if (isMath(token)) return <Formula tex={token.tex} isBlock />
  if (!isPlain(token)) return token.raw
  switch (token.type) {
    case "space":
    case "def":
    case "checkbox":
      return null
    case "heading":
      return <Heading token={token} level={headingLevel} />
    case "paragraph":
      return <p>{inline(token.tokens)}</p>
    case "text":
      return "tokens" in token && token.tokens ? inline(token.tokens) : token.text
    case "code":
      return <CodeBlock code={token.text} language={languageOf(token)} isStreaming={isUnfinished && !isClosed(token)} />
    case "blockquote":
      return <blockquote className={css["quote"]}>{blocks(token.tokens, isUnfinished)}</blockquote>
    case "list":
      return <List token={token} isUnfinished={isUnfinished} />
    case "table":
      return <Table token={token} />
    case "hr":
      return <hr className={css["rule"]} />
    case "html":
      return <p className={css["html"]}>{token.raw.trimEnd()}</p>
    default:
      return <p>{inline([token])}</p>
  }
}

function blocks(tokens: readonly Token[], isUnfinished: boolean): ReactNode {
  return tokens.map((token, place) => <Block key={place} token={token} isUnfinished={isUnfinished && place === tokens.length - 1} />)
}

/** Inside of lists and quotations a heading has no place among those of the page. */
function Heading({ token, level }: { token: Tokens.Heading; level: number | null }) {
  const className = classes(css["heading"], token.depth <= 2 && css["large"])
  if (level === null) return <p className={className}>{inline(token.tokens)}</p>
  const Tag = `h${Math.min(level, 6) as 1 | 2 | 3 | 4 | 5 | 6}` as const
  return <Tag className={className}>{inline(token.tokens)}</Tag>
}

function List({ token, isUnfinished }: { token: Tokens.List; isUnfinished: boolean }) {
  const items = token.items.map((item, place) => (
    <li key={place} className={classes(item.task && css["task"])}>
      {item.task && <Task isDone={item.checked === true} />}
      <div className={css["item"]}>{blocks(item.tokens, isUnfinished && place === token.items.length - 1)}</div>
    </li>
  ))
  if (token.ordered) return <ol className={css["ordered"]} start={token.start === "" ? undefined : token.start}>{items}</ol>
  return <ul className={css["bullets"]}>{items}</ul>
}

function Task({ isDone }: { isDone: boolean }) {
  return (
    <span className={css["tick"]}>
      <span aria-hidden>{isDone ? "☑\uFE0E" : "☐\uFE0E"}</span>
      <span className="unseen">{isDone ? words.ui.taskDone : words.ui.taskOpen}</span>
    </span>
  )
}

function Table({ token }: { token: Tokens.Table }) {
  return (
    <div className={css["scroll"]} role="group" aria-label={words.ui.scrollableTable} tabIndex={0}>
      <table className={css["table"]}>
        <thead>
          <tr>
            {token.header.map((cell, place) => (
              <th key={place} scope="col" data-align={cell.align ?? undefined}>
                {inline(cell.tokens)}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {token.rows.map((row, place) => (
            <tr key={place}>
              {row.map((cell, column) => (
                <td key={column} data-align={cell.align ?? undefined}>
                  {inline(cell.tokens)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}

function languageOf(token: Tokens.Code): string | undefined {
  return token.lang?.trim().split(/[\s,{]/)[0] || undefined
}

function isClosed(token: Tokens.Code): boolean {
  const fence = token.raw.match(/^ {0,3}(`{3,}|~{3,})/)?.[1]
  if (fence === undefined) return false
  const end = token.raw.trimEnd().split("\n").slice(1).at(-1)?.trim() ?? ""
  return end.length >= fence.length && end === fence[0]?.repeat(end.length)
}
