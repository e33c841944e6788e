import type { Token, Tokens } from "marked"
import type { ReactNode } from "react"
import { words } from "../../words"
import { decoded } from "./entities"
import { isMath, isPlain } from "./grammar"
import { ownPicture, safeAddress } from "./links"
import css from "./Markdown.module.css"
import { Formula } from "./Formula"

/** What stands inside of a line. Unknown kinds and HTML are shown as they were written. */
export function inline(tokens: readonly Token[] | undefined): ReactNode {
  return tokens?.map((token, place) => <Inline key={place} token={token} />)
}

function Inline({ token }: { token: Token }): ReactNode {
  if (isMath(token)) return <Formula tex={token.tex} isBlock={token.isBlock} />
  if (!isPlain(token)) return token.raw
  switch (token.type) {
    case "text":
      return "tokens" in token && token.tokens ? inline(token.tokens) : decoded(token.text)
    case "escape":
      return decoded(token.text)
    case "strong":
      return <strong>{inline(token.tokens)}</strong>
    case "em":
      return <em>{inline(token.tokens)}</em>
    case "del":
      return <del>{inline(token.tokens)}</del>
    case "codespan":
      return <code className={css["code"]}>{token.text}</code>
    case "br":
      return <br />
    case "link":
      return <Link token={token} />
    case "image":
      return <Picture token={token} />
    case "html":
      return /^<br\s*\/?>$/i.test(token.raw.trim()) ? <br /> : token.raw
    case "checkbox":
      return null
    default:
      return token.raw
  }
}

function Link({ token }: { token: Tokens.Link | Tokens.Def }): ReactNode {
  const address = safeAddress(decoded(token.href))
  const inside = "tokens" in token ? inline(token.tokens) : token.href
  if (address === null) return <span>{inside}</span>
  return (
    <a href={address} target="_blank" rel="noopener noreferrer" title={token.title ? decoded(token.title) : undefined}>
      {inside}
    </a>
  )
}

function Picture({ token }: { token: Tokens.Image }): ReactNode {
  const name = decoded(token.text)
  const own = ownPicture(token.href)
  if (own !== null) return <img src={own} alt={name} loading="lazy" className={css["picture"]} />
  const address = safeAddress(decoded(token.href))
  const label = name ? words.ui.image(name) : words.ui.imageUnnamed
  if (address === null) return label
  return (
    <a href={address} target="_blank" rel="noopener noreferrer">
      {label}
    </a>
  )
}
