import { ChevronsUpDown } from "lucide-react"
import type { ModelConfig, ReasoningEffort } from "../../api/schema"
import type { MenuEntry } from "../../ui/floating/menu_items"
import { Menu } from "../../ui/floating/Menu"
import { Icon } from "../../ui/Icon"
import { words } from "../../words"
import css from "./ComposerBox.module.css"
import type { ModelChoice } from "./model_choice"

/** Models by their provider, and how hard the chosen one is to think. */
export function ModelPicker({ choice }: { choice: ModelChoice }) {
  if (!choice.model) return choice.isKnown ? <span className={css["muted"]}>{words.composer.noModel}</span> : null
  const efforts = choice.model.reasoning_efforts
  return (
    <>
      <Menu side="top" entries={modelEntries(choice)}>
        <button type="button" className={css["picker"]} aria-label={`${words.composer.model}: ${nameOf(choice.model)}`}>
          <span>{nameOf(choice.model)}</span>
          <Icon of={ChevronsUpDown} size={12} />
        </button>
      </Menu>
      {efforts.length > 0 && (
        <Menu side="top" entries={effortEntries(choice, efforts)}>
          <button type="button" className={css["picker"]} aria-label={`${words.composer.effort}: ${effortName(choice.effort)}`}>
            <span>{effortName(choice.effort)}</span>
            <Icon of={ChevronsUpDown} size={12} />
          </button>
        </Menu>
      )}
    </>
  )
}

function modelEntries(choice: ModelChoice): MenuEntry[] {
  const providers = [...new Set(choice.models.map((model) => model.provider_name))]
  return providers.flatMap((provider): MenuEntry[] => [
    { heading: provider },
    ...choice.models
      .filter((model) => model.provider_name === provider)
      .map((model) => ({
        label: nameOf(model),
        hint: contextText(model.context_limit),
        isChecked: model.id === choice.model?.id,
        isOneOf: true,
        choose: () => choice.choose(model),
      })),
  ])
}

function effortEntries(choice: ModelChoice, efforts: readonly ReasoningEffort[]): MenuEntry[] {
  return [null, ...efforts].map((effort) => ({
    label: effortName(effort),
    isChecked: effort === choice.effort,
    isOneOf: true,
    choose: () => choice.chooseEffort(effort),
  }))
}

function effortName(effort: ReasoningEffort | null): string {
  return effort === null ? words.composer.defaultEffort : (words.composer.efforts[effort] ?? effort)
}

function nameOf(model: ModelConfig): string {
  return model.display_name || model.model
}

function contextText(tokens: number): string {
  return tokens >= 1_000_000 ? `${Math.round(tokens / 100_000) / 10}M` : `${Math.round(tokens / 1000)}K`
}
