import { useQuery, useQueryClient } from "@tanstack/react-query"
import { request } from "../../api/request"
import type { Token } from "../../api/schema"
import { Button } from "../../ui/buttons/Button"
import { PageTitle } from "../../ui/layout/Page"
import { Badge } from "../../ui/status/Badge"
import { words } from "../../words/with_settings"
import { attempted } from "../attempted"
import { Loaded } from "../Loaded"
import css from "../place.module.css"
import { questions } from "../questions"
import { TokenTable } from "./TokenTable"

const me = { user: "me" }

export function Sessions() {
  const sessions = useQuery(questions.sessions)
  const client = useQueryClient()
  const text = words.settings.sessions
  async function end(token: Token) {
    await attempted(text.ending, () => request("DELETE /api/v2/users/{user}/sessions/{token}", { path: { ...me, token: token.id } }))
    await client.invalidateQueries({ queryKey: questions.sessions.queryKey })
  }
  return (
    <>
      <PageTitle title={words.settings.pages.sessions} text={text.text} />
      <Loaded query={sessions}>
        {(found) => (
          <TokenTable
            caption={words.settings.pages.sessions}
            tokens={found.tokens}
            name={(one) => (
              <>
                {browserName(one.user_agent)} {one.current && <Badge kind="accent">{text.current}</Badge>}
                <span className={css["below"]}>{one.client_ip}</span>
              </>
            )}
            action={(one) =>
              one.current ? null : (
                <Button size="small" onClick={() => void end(one)}>
                  {text.end}
                </Button>
              )
            }
          />
        )}
      </Loaded>
    </>
  )
}

const browsers = ["Edg", "Firefox", "Chrome", "Safari"] as const
const systems = ["Android", "iPhone", "iPad", "Windows", "Mac OS", "Linux"] as const

/** Enough to recognise one's own; whole it is unreadable. */
function browserName(agent: string): string {
  const text = words.settings.sessions
  const browser = browsers.find((one) => agent.includes(one))
  const system = systems.find((one) => agent.includes(one))
  if (!browser) return agent.slice(0, 60) || text.unknown
  return text.browser(browser === "Edg" ? "Edge" : browser, system ?? "")
}
