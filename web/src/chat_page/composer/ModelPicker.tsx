import { ChevronsUpDown } from "lucide-react"
import { lazy, Suspense, useState } from "react"
import type { ReasoningEffort } from "../../api/schema"
import type { MenuEntry } from "../../ui/floating/menu_items"
import { Menu } from "../../ui/floating/Menu"
import { Popover } from "../../ui/floating/Popover"
import { Icon } from "../../ui/Icon"
import { words } from "../../words"
import css from "./ComposerBox.module.css"
import type { ModelChoice } from "./model_choice"
import { contextText, nameOf } from "./model_words"
import { NoModel } from "./NoModel"

const ModelSearch = lazy(() => import("./ModelSearch").then((module) => ({ default: module.ModelSearch })))

/** More than these are searched, not read. */
const MANY = 8

/** Models by their provider, and how hard the chosen one is to think. */
export function ModelPicker({ choice }: { choice: ModelChoice }) {
  const [isOpen, setOpen] = useState(false)
  if (!choice.model) return choice.isKnown ? <NoModel /> : null
  const efforts = choice.model.reasoning_efforts
  const trigger = (
    <button type="button" className={css["picker"]} aria-label={`${words.composer.model}: ${nameOf(choice.model)}`}>
      <span>{nameOf(choice.model)}</span>
      <Icon of={ChevronsUpDown} size={12} />
    </button>
  )
  return (
    <>
      {choice.models.length > MANY ? (
        <Popover side="top" label={words.composer.model} isOpen={isOpen} onOpenChange={setOpen} trigger={trigger}>
          <Suspense>
            <ModelSearch choice={choice} onDone={() => setOpen(false)} />
          </Suspense>
        </Popover>
      ) : (
        <Menu side="top" entries={modelEntries(choice)}>
          {trigger}
        </Menu>
      )}
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
  return [...(choice.canBeDefault ? [null] : []), ...efforts].map((effort) => ({
    label: effortName(effort),
    isChecked: effort === choice.effort,
    isOneOf: true,
    choose: () => choice.chooseEffort(effort),
  }))
}

function effortName(effort: ReasoningEffort | null): string {
  return effort === null ? words.composer.defaultEffort : (words.composer.efforts[effort] ?? effort)
}
