import { useQuery } from "@tanstack/react-query"
import { lazy, Suspense, useMemo, useState } from "react"
import { queries } from "../../api/queries"
import type { Chat } from "../../api/schema"
import { contextUse, type OpenedChat, type SettledPicture } from "../../chat"
import type { PanelOpening } from "../../panel/opening"
import { classes } from "../../ui/classes"
import { Popover } from "../../ui/floating/Popover"
import { toast } from "../../ui/floating/toast"
import { Meter } from "../../ui/status/Meter"
import { words } from "../../words"
import css from "./ChatHeader.module.css"

const ContextSummary = lazy(() => import("../../panel/context/ContextSummary").then((module) => ({ default: module.ContextSummary })))

export interface ContextMeterProps {
  chat: Chat
  picture: SettledPicture
  opened: OpenedChat
  panel: PanelOpening
  isMine: boolean
}

/** How full the context is. What is in it is behind it, for those who want to know. */
export function ContextMeter({ chat, picture, opened, panel, isMine }: ContextMeterProps) {
  const use = useMemo(() => contextUse(picture.messages), [picture.messages])
  const [isOpen, setOpen] = useState(false)
  const models = useQuery(queries.models)
  // Until an answer tells, it is as large as the model's: the meter has its place from the beginning.
  const limit = use.limit ?? models.data?.find((model) => model.id === chat.last_model_config_id)?.context_limit ?? null
  if (limit === null) return null
  const text =
    use.used === null || use.percent === null
      ? words.header.contextUnknown
      : words.header.contextUse(use.used.toLocaleString("en"), limit.toLocaleString("en"), Math.round(use.percent))
  const drift = chat.context_dirty_since ? `. ${words.panel.context.drift}` : ""
  const isResting = (chat.status === "waiting" || chat.status === "error") && picture.messages.length > 0
  const compact = () => {
    setOpen(false)
    opened.actions.compact().catch((error: Error) => toast(words.common.failed(words.header.compact), { kind: "error", text: error.message }))
  }
  return (
    <Popover
      label={words.header.context}
      align="end"
      isOpen={isOpen}
      onOpenChange={setOpen}
      trigger={
        <button type="button" className={classes(css["context"], drift && css["drifted"])} aria-label={`${words.header.context}: ${text}${drift}`}>
          <Meter label={words.header.context} value={use.used ?? 0} max={limit} text={text} />
        </button>
      }
    >
      <div className={css["summary"]}>
        <Suspense fallback={<p>{text}</p>}>
          <ContextSummary
            chat={chat}
            use={use}
            isMine={isMine}
            onCompact={isResting ? compact : undefined}
            onDetails={() => {
              setOpen(false)
              panel.show("context")
            }}
          />
        </Suspense>
      </div>
    </Popover>
  )
}
