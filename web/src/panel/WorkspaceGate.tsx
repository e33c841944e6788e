import { Box, Power } from "lucide-react"
import type { ReactNode } from "react"
import type { Chat } from "../api/schema"
import { Button } from "../ui/buttons/Button"
import { EmptyState, ErrorState } from "../ui/status/EmptyState"
import { Spinner } from "../ui/status/Spinner"
import { words } from "../words"
import css from "./Panel.module.css"
import { useTransition, useWorkspace } from "./workspace"

export interface WorkspaceGateProps {
  chat: Chat
  children: (workspaceId: string) => ReactNode
}

/** What needs a workspace that runs; otherwise, why there is none and what can be done. */
export function WorkspaceGate({ chat, children }: WorkspaceGateProps) {
  const { id, read, state } = useWorkspace(chat)
  const transition = useTransition(id, chat.id)
  const text = words.panel.workspace
  const start = (
    <Button icon={Power} onClick={() => transition.mutate("start")} isBusy={transition.isPending}>
      {text.start}
    </Button>
  )

  if (id === null) return <EmptyState icon={Box} title={text.none} text={text.noneText} />
  if (state === "running") return children(id)
  if (state === undefined) return read.error ? <ErrorState title={text.unread} text={read.error.message} onRetry={() => void read.refetch()} /> : null
  if (state === "starting") return <Waiting text={text.starting} />
  if (state === "stopping" || state === "deleting") return <Waiting text={text.stopping} />
  if (state === "deleted") return <EmptyState icon={Box} title={text.deleted} text={text.deletedText} />
  if (state === "failed") return <ErrorState title={text.failed} text={read.data?.latest_build.error} action={start} />
  return <EmptyState icon={Box} title={text.stopped} text={text.stoppedText} action={start} />
}

function Waiting({ text }: { text: string }) {
  return (
    <div className={css["waiting"]}>
      <Spinner text={text} />
    </div>
  )
}
