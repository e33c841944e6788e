import { QueryClient, QueryClientProvider } from "@tanstack/react-query"
import { useState } from "react"
import type { CallBlock, OpenedChat } from "../../../chat"
import { Rows } from "../../../ui/StoryFrame"
import { ToolCard } from "../ToolCard"
import { chatOf } from "./calls"

const chat = chatOf()

/** Cards below each other, as in a chat. */
export function Cards({ of, opened = chat }: { of: readonly CallBlock[]; opened?: OpenedChat }) {
  const [client] = useState(() => new QueryClient({ defaultOptions: { queries: { retry: false } } }))
  return (
    <QueryClientProvider client={client}>
      <Rows width="wide">
        {of.map((call) => (
          <ToolCard key={call.key} call={call} opened={opened} />
        ))}
      </Rows>
    </QueryClientProvider>
  )
}
