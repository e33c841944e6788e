import { useMutation, useQuery } from "@tanstack/react-query"
import { useMemo } from "react"
import { queries } from "../../api/queries"
import type { Chat } from "../../api/schema"
import { contextUse, newestId, type OpenedChat, type SettledPicture } from "../../chat"
import { Button } from "../../ui/buttons/Button"
import { toast } from "../../ui/floating/toast"
import { Money } from "../../ui/values/figures"
import { RelativeTime } from "../../ui/values/RelativeTime"
import { words } from "../../words"
import css from "./Context.module.css"
import { Drift } from "./Drift"
import { Fullness } from "./Fullness"
import { Given } from "./Given"
import { LastPrompt } from "./LastPrompt"

export interface ContextTabProps {
  chat: Chat
  picture: SettledPicture
  opened: OpenedChat
  isMine: boolean
}

/** What the model knows: how full its context is, and what it was given beside the conversation. */
export function ContextTab({ chat, picture, opened, isMine }: ContextTabProps) {
  const use = useMemo(() => contextUse(picture.messages), [picture.messages])
  const text = words.panel.context
  const compact = useMutation({
    mutationFn: () => opened.actions.compact(),
    onError: (error) => void toast(words.common.failed(words.header.compact), { kind: "error", text: error.message }),
  })
  return (
    <div className={css["tab"]}>
      <section aria-label={text.use} className={css["section"]}>
        <h2 className={css["title"]}>{text.use}</h2>
        <Fullness chat={chat} use={use} />
        {isMine && picture.messages.length > 0 && (
          <div>
            <Button size="small" onClick={() => compact.mutate()} isBusy={compact.isPending} busyText={text.compacting} disabled={chat.status !== "waiting"}>
              {text.compact}
            </Button>
          </div>
        )}
      </section>
      <LastPrompt messages={picture.messages} />
      <Cost chatId={chat.id} newest={newestId(picture.messages)} />
      <section aria-label={text.given} className={css["section"]}>
        <h2 className={css["title"]}>{text.given}</h2>
        <Drift chat={chat} isMine={isMine} />
        {chat.context && (
          <p className={css["beside"]}>
            {text.givenAt} <RelativeTime at={chat.context.pinned_at} />
          </p>
        )}
        {chat.context && chat.context.resources.length > 0 ? (
          <Given resources={chat.context.resources} />
        ) : (
          <p className={css["beside"]}>{chat.workspace_id ? text.nothing : text.noWorkspace}</p>
        )}
      </section>
    </div>
  )
}

function Cost({ chatId, newest }: { chatId: string; newest: number }) {
  const cost = useQuery(queries.chatCost(chatId, newest)).data
  const text = words.panel.context
  if (!cost) return null
  return (
    <section aria-label={text.cost} className={css["section"]}>
      <h2 className={css["title"]}>{text.cost}</h2>
      <p>
        <Money micros={cost.total_cost_micros} />
        <span className={css["beside"]}>
          {" · "}
          {text.requests(cost.request_count)}
          {cost.unpriced_request_count > 0 && `, ${text.unpriced(cost.unpriced_request_count)}`}
        </span>
      </p>
    </section>
  )
}
