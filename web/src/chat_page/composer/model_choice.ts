/** Which model and effort the next message goes with. A chat has its own; a new one begins with what was last chosen. */
import { useQuery } from "@tanstack/react-query"
import { useEffect, useState } from "react"
import { queries } from "../../api/queries"
import type { Chat, ModelConfig, ReasoningEffort } from "../../api/schema"
import { keptText, lastModel, useKept } from "../../browser/kept"
import type { WithModel } from "../../chat"

export interface ModelChoice {
  models: readonly ModelConfig[]
  isKnown: boolean
  model: ModelConfig | undefined
  /** null: the model's own. */
  effort: ReasoningEffort | null
  /** A chat that was given an effort can be given another, but not none. */
  canBeDefault: boolean
  /** What is to be said with a message: only what is not so already. */
  changed: WithModel
  choose(model: ModelConfig): void
  chooseEffort(effort: ReasoningEffort | null): void
}

export interface Wishes {
  /** null: it has not begun. undefined: nobody knows yet what it has. */
  chat: Pick<Chat, "last_model_config_id"> | null | undefined
  /** For this chat, and not sent with anything yet. */
  chosen: string
  /** For any chat. */
  last: string
}

/** Undefined until the chat is known: a message that goes before that leaves it the model that it has. */
export function wishedModel(models: readonly ModelConfig[], { chat, chosen, last }: Wishes): ModelConfig | undefined {
  const find = (id: string | null | undefined) => models.find((model) => model.id === id)
  const usual = () => models.find((model) => model.is_default) ?? models[0]
  if (chat === null) return find(last) ?? usual()
  return find(chosen) ?? (chat && (find(chat.last_model_config_id) ?? usual()))
}

/** `"new"` is the one of a chat that has not begun. */
export function useModelChoice(chatId: string, chat: Chat | undefined): ModelChoice {
  const isNew = chatId === "new"
  const query = useQuery(queries.models)
  const [last, keepLast] = useKept(lastModel)
  const ownChoice = keptText("model", chatId)
  const [chosen, setChosen] = useKept(ownChoice)
  const models = (query.data ?? []).filter((model) => model.enabled)
  const model = wishedModel(models, { chat: isNew ? null : chat, chosen, last })
  const isOther = model !== undefined && model.id !== chat?.last_model_config_id
  const [kept, keepEffort] = useKept(keptText("effort", model?.id ?? ""))
  const [touched, setTouched] = useState(false)
  const own = touched || isOther || !chat ? kept : (chat.last_reasoning_effort ?? "")
  const effort = model?.reasoning_efforts.find((one) => one === own) ?? null
  // What the chat has by now needs no memory of its own, and follows other tabs.
  const isTaken = chosen !== "" && chosen === chat?.last_model_config_id
  useEffect(() => {
    if (isTaken) ownChoice.forget()
  }, [isTaken, ownChoice])
  return {
    models,
    isKnown: query.data !== undefined && (isNew || chat !== undefined),
    model,
    effort,
    canBeDefault: !chat?.last_reasoning_effort || isOther,
    changed: { ...(isOther && { modelConfigId: model.id }), ...((isOther || touched) && effort && { reasoningEffort: effort }) },
    choose(next) {
      if (!isNew) setChosen(next.id)
      keepLast(next.id)
      setTouched(true)
    },
    chooseEffort(next) {
      setTouched(true)
      keepEffort(next ?? "")
    },
  }
}
