import { QueryClient, QueryClientProvider } from "@tanstack/react-query"
import { type ReactNode, useState } from "react"

export interface StoryQueriesProps {
  /** What the server has answered, by its key. Nothing else is asked for. */
  known: readonly (readonly [readonly unknown[], unknown])[]
  children: ReactNode
}

/** For what reads the server's answers. */
export function StoryQueries({ known, children }: StoryQueriesProps) {
  const [client] = useState(() => {
    const made = new QueryClient({ defaultOptions: { queries: { retry: false, staleTime: Number.POSITIVE_INFINITY, enabled: false } } })
    for (const [key, answer] of known) made.setQueryData(key, answer)
    return made
  })
  return <QueryClientProvider client={client}>{children}</QueryClientProvider>
}
