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

export function useModelChoice(chatId: string, chat: Chat | undefined): ModelChoice {
  const query = useQuery(queries.models)
  const [last, keepLast] = useKept(lastModel)
  const [chosen, setChosen] = useKept(keptText("model", chatId))
  const models = (query.data ?? []).filter((model) => model.enabled)
  const find = (id: string | null | undefined) => models.find((model) => model.id === id)
  const model = find(chosen) ?? find(chat?.last_model_config_id) ?? find(chat ? null : last) ?? models.find((one) => one.is_default) ?? models[0]
  const [kept, keepEffort] = useKept(keptText("effort", model?.id ?? ""))
  const [touched, setTouched] = useState(false)
  const own = touched || !chat ? kept : (chat.last_reasoning_effort ?? "")
  const effort = model?.reasoning_efforts.find((one) => one === own) ?? null
  // What the chat has by now needs no memory of its own, and follows other tabs.
  const isTaken = chosen !== "" && chosen === chat?.last_model_config_id
  useEffect(() => {
    if (isTaken) setChosen("")
  }, [isTaken, setChosen])
  const isOther = model !== undefined && model.id !== chat?.last_model_config_id
  return {
    models,
    isKnown: query.data !== undefined,
    model,
    effort,
    canBeDefault: !chat?.last_reasoning_effort || isOther,
    changed: { ...(isOther && { modelConfigId: model.id }), ...((isOther || touched) && effort && { reasoningEffort: effort }) },
    choose(next) {
      setChosen(next.id)
      keepLast(next.id)
      setTouched(true)
    },
    chooseEffort(next) {
      setTouched(true)
      keepEffort(next ?? "")
    },
  }
}
