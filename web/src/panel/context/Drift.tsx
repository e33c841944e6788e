import type { Chat } from "../../api/schema"
import { Button } from "../../ui/buttons/Button"
import { Banner } from "../../ui/status/Banner"
import { words } from "../../words"
import { useRefresh } from "./context_query"

/** Says that instruction files or skills are not what the chat was given. */
export function Drift({ chat, isMine }: { chat: Chat; isMine: boolean }) {
  const refresh = useRefresh(chat.id)
  const text = words.panel.context
  if (!chat.context_dirty_since) return null
  return (
    <Banner
      kind="warn"
      title={text.drift}
      text={text.driftText}
      isAnnounced={false}
      actions={
        isMine && (
          <Button size="small" onClick={() => refresh.mutate()} isBusy={refresh.isPending} busyText={text.refreshing}>
            {text.refresh}
          </Button>
        )
      }
    />
  )
}
