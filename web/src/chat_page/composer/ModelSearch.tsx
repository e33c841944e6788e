import { Check, Search } from "lucide-react"
import { type KeyboardEvent, useEffect, useId, useRef, useState } from "react"
import type { ModelConfig } from "../../api/schema"
import { classes } from "../../ui/classes"
import { Icon } from "../../ui/Icon"
import { TextInput } from "../../ui/inputs/TextInput"
import { words } from "../../words"
import css from "./ModelSearch.module.css"
import type { ModelChoice } from "./model_choice"
import { contextText, isModelMeant, nameOf } from "./model_words"

/** Many models, by their provider. The keys stay in the field: arrows and Enter choose from the list. */
export function ModelSearch({ choice, onDone }: { choice: ModelChoice; onDone: () => void }) {
  const [typed, setTyped] = useState("")
  const [place, setPlace] = useState(() => Math.max(0, byProvider(choice.models).findIndex((model) => model.id === choice.model?.id)))
  const input = useRef<HTMLInputElement>(null)
  const list = useRef<HTMLDivElement>(null)
  const id = useId()
  const found = byProvider(choice.models).filter((model) => isModelMeant(model, typed))
  const at = Math.min(place, found.length - 1)

  useEffect(() => {
    // It comes after what floats has opened. On touch a keyboard would hide the list.
    if (!window.matchMedia("(pointer: coarse)").matches) input.current?.focus()
  }, [])
  useEffect(() => {
    list.current?.querySelector("[data-at]")?.scrollIntoView({ block: "nearest" })
  }, [at])

  const choose = (model: ModelConfig | undefined) => {
    if (!model) return
    choice.choose(model)
    onDone()
  }

  function pressed(event: KeyboardEvent) {
    if (event.nativeEvent.isComposing) return
    if (event.key === "ArrowDown") setPlace(Math.min(at + 1, found.length - 1))
    else if (event.key === "ArrowUp") setPlace(Math.max(at - 1, 0))
    else if (event.key === "Enter") choose(found[at])
    else return
    event.preventDefault()
  }

  const providers = [...new Set(found.map((model) => model.provider_name))]
  return (
    <div className={css["search"]}>
      <TextInput
        ref={input}
        icon={Search}
        value={typed}
        onChange={(next) => {
          setTyped(next)
          setPlace(0)
        }}
        onKeyDown={pressed}
        role="combobox"
        aria-label={words.composer.searchModels}
        placeholder={words.composer.searchModels}
        aria-expanded
        aria-controls={id}
        aria-activedescendant={found[at] && `${id}-${found[at].id}`}
      />
      {found.length === 0 && <p className={css["none"]}>{words.composer.noModelFound}</p>}
      <div ref={list} id={id} role="listbox" aria-label={words.composer.model} className={css["list"]}>
        {providers.map((provider) => (
          <div key={provider} role="group" aria-label={provider}>
            <p className={css["provider"]} aria-hidden>
              {provider}
            </p>
            {found
              .filter((model) => model.provider_name === provider)
              .map((model) => (
                <div
                  key={model.id}
                  id={`${id}-${model.id}`}
                  role="option"
                  aria-selected={model.id === choice.model?.id}
                  data-at={model === found[at] || undefined}
                  className={classes(css["model"], model === found[at] && css["at"])}
                  onMouseMove={() => setPlace(found.indexOf(model))}
                  onClick={() => choose(model)}
                >
                  <span className={css["tick"]}>{model.id === choice.model?.id && <Icon of={Check} />}</span>
                  <span className={css["name"]}>{nameOf(model)}</span>
                  <span className={css["size"]}>{contextText(model.context_limit)}</span>
                </div>
              ))}
          </div>
        ))}
      </div>
    </div>
  )
}

/** In the order in which they are shown: providers as they come, each with all of its models. */
function byProvider(models: readonly ModelConfig[]): ModelConfig[] {
  const providers = [...new Set(models.map((model) => model.provider_name))]
  return providers.flatMap((provider) => models.filter((model) => model.provider_name === provider))
}
