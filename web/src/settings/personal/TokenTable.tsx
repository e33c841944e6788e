import type { ReactNode } from "react"
import type { Token } from "../../api/schema"
import { Table } from "../../ui/layout/Table"
import { RelativeTime } from "../../ui/values/RelativeTime"
import { words } from "../../words/with_settings"

interface TokenTableProps {
  caption: string
  tokens: readonly Token[]
  name: (token: Token) => ReactNode
  action: (token: Token) => ReactNode
}

/** Tokens and sessions: what they are called, since when, used when, until when. */
export function TokenTable({ caption, tokens, name, action }: TokenTableProps) {
  const text = words.settings.tokens
  return (
    <Table
      caption={caption}
      isCaptionHidden
      rows={tokens}
      rowKey={(one) => one.id}
      columns={[
        { key: "name", header: text.name, isMain: true, cell: name },
        { key: "made", header: text.made, cell: (one) => <RelativeTime at={one.created_at} /> },
        { key: "used", header: text.used, cell: (one) => <LastUsed token={one} /> },
        { key: "ends", header: text.ends, cell: (one) => <RelativeTime at={one.expires_at} /> },
        { key: "action", header: text.action, isHeaderHidden: true, align: "end", cell: action },
      ]}
    />
  )
}

/** That of this page is used as one looks, also when the server has not written it down yet. */
function LastUsed({ token }: { token: Token }) {
  if (token.current) return words.settings.tokens.now
  return token.last_used_at ? <RelativeTime at={token.last_used_at} /> : words.settings.tokens.never
}
