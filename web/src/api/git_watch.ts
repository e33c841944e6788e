/** The git repositories of a chat's workspace, as they change. */
import type { GitEvent, LiveRepository } from "./events"
import { type Connection, Lasting } from "./lasting"
import { address } from "./request"
import { browser, type Surroundings } from "./surroundings"

export interface GitHooks {
  /** All that there are now, the one first that the chat touched last. */
  onRepositories(repositories: readonly LiveRepository[]): void
  onConnection(connection: Connection): void
}

/** Gives what ends it. */
export function watchGit(chatId: string, hooks: GitHooks, around: Surroundings = browser): () => void {
  let known: readonly LiveRepository[] | null = null
  const lasting = new Lasting(
    {
      address: () => address("/api/experimental/chats/{chat}/stream/git", { chat: chatId }),
      came: (values) => {
        for (const event of values.filter(isGitEvent)) known = known === null ? event.repositories : withChanges(known, event)
        if (known !== null) hooks.onRepositories(known)
      },
      connection: (now) => {
        // Who connects again is told all of them.
        if (now.state === "connecting") known = null
        hooks.onConnection(now)
      },
      placeRefused: () => {},
    },
    around,
  )
  return () => lasting.close()
}

/** Those that have changed take the place of what they were; new ones come last. */
export function withChanges(known: readonly LiveRepository[], event: GitEvent): readonly LiveRepository[] {
  const newer = new Map(event.repositories.map((one) => [one.root, one]))
  const stayed = known.filter((one) => !event.removed.includes(one.root)).map((one) => newer.get(one.root) ?? one)
  const roots = new Set(stayed.map((one) => one.root))
  return [...stayed, ...event.repositories.filter((one) => !roots.has(one.root))]
}

function isGitEvent(value: unknown): value is GitEvent {
  return typeof value === "object" && value !== null && "repositories" in value && "removed" in value
}
