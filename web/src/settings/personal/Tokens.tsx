import { useQuery, useQueryClient } from "@tanstack/react-query"
import { KeyRound, Plus } from "lucide-react"
import { useState } from "react"
import { request } from "../../api/request"
import type { Token } from "../../api/schema"
import { Button } from "../../ui/buttons/Button"
import { PageTitle } from "../../ui/layout/Page"
import { EmptyState } from "../../ui/status/EmptyState"
import { words } from "../../words/with_settings"
import { attempted } from "../attempted"
import { Loaded } from "../Loaded"
import css from "../place.module.css"
import { questions } from "../questions"
import { TokenDialog } from "./TokenDialog"
import { TokenTable } from "./TokenTable"

export function Tokens() {
  const tokens = useQuery(questions.tokens)
  const client = useQueryClient()
  const [isMaking, setMaking] = useState(false)
  const text = words.settings.tokens
  const changed = () => client.invalidateQueries({ queryKey: questions.tokens.queryKey })
  async function revoke(token: Token) {
    await attempted(text.revoking, () => request("DELETE /api/v2/users/{user}/tokens/{token}", { path: { user: "me", token: token.id } }))
    await changed()
  }
  const make = (
    <Button kind="primary" icon={Plus} onClick={() => setMaking(true)}>
      {text.make}
    </Button>
  )
  return (
    <>
      <PageTitle title={words.settings.pages.tokens} text={text.text} actions={(tokens.data?.tokens.length ?? 0) > 0 && make} />
      <Loaded query={tokens}>
        {(found) =>
          found.tokens.length === 0 ? (
            <EmptyState icon={KeyRound} title={text.none} text={text.noneText} action={make} />
          ) : (
            <TokenTable
              caption={words.settings.pages.tokens}
              tokens={found.tokens}
              name={(one) => (
                <>
                  {one.name}
                  <span className={css["below"]}>{rightsText(one.scopes)}</span>
                </>
              )}
              action={(one) => (
                <Button size="small" kind="danger" onClick={() => void revoke(one)}>
                  {text.revoke}
                </Button>
              )}
            />
          )
        }
      </Loaded>
      {isMaking && <TokenDialog onClose={() => setMaking(false)} onMade={() => void changed()} />}
    </>
  )
}

/** In the words of the dialog; what was made elsewhere may have others. */
function rightsText(scopes: readonly string[]): string {
  const named: Record<string, string> = words.settings.tokens.right
  return scopes.map((scope) => named[scope] ?? scope).join(", ")
}
