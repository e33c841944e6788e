import { useEffect, useState } from "react"
import type { LiveRepository } from "../../api/events"
import { watchGit } from "../../api/git_watch"
import { request } from "../../api/request"

export interface Git {
  /** null until they are known. */
  repositories: readonly LiveRepository[] | null
  isLive: boolean
  /** It was tried several times, and nothing came. */
  isUnanswered: boolean
}

const patience = 4

/** Repositories while someone looks at them. What was known stays when the connection is lost. */
export function useGit(chatId: string, workspaceId: string | null): Git {
  const [repositories, setRepositories] = useState<readonly LiveRepository[] | null>(null)
  const [losses, setLosses] = useState(0)
  useEffect(() => {
    if (workspaceId === null) return
    let lost = 0
    const end = watchGit(chatId, {
      onRepositories: (now) => {
        lost = 0
        setLosses(0)
        setRepositories(now)
      },
      onConnection: ({ state }) => {
        if (state !== "waiting") return
        lost += 1
        setLosses(lost)
        if (lost === 1) wake(workspaceId)
      },
    })
    return () => {
      end()
      setRepositories(null)
      setLosses(0)
    }
  }, [chatId, workspaceId])
  return { repositories, isLive: losses === 0, isUnanswered: repositories === null && losses >= patience }
}

/** What works in a workspace may have gone to sleep: using it starts it again, watching it does not. */
function wake(workspaceId: string): void {
  request("GET /api/experimental/workspaces/{workspace}/files", { path: { workspace: workspaceId }, query: { limit: 1 } }).catch(() => {})
}
