import { useEffect, useState } from "react"
import type { LiveRepository } from "../../api/events"
import { watchGit } from "../../api/git_watch"
import type { Connection } from "../../api/lasting"

export interface Git {
  /** null until they are known. */
  repositories: readonly LiveRepository[] | null
  isLive: boolean
}

/** Repositories while someone looks at them. What was known stays when the connection is lost. */
export function useGit(chatId: string, isRunning: boolean): Git {
  const [repositories, setRepositories] = useState<readonly LiveRepository[] | null>(null)
  const [connection, setConnection] = useState<Connection>({ state: "connecting", attempt: 0 })
  useEffect(() => {
    if (!isRunning) return
    const end = watchGit(chatId, { onRepositories: setRepositories, onConnection: setConnection })
    return () => {
      end()
      setRepositories(null)
    }
  }, [chatId, isRunning])
  const isFirst = connection.state === "connecting" && connection.attempt === 0
  return { repositories, isLive: connection.state === "open" || isFirst }
}
