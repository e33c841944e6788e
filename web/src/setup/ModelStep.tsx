import { useState } from "react"
import type { ModelConfig } from "../api/schema"
import { Button } from "../ui/buttons/Button"
import { RadioCards } from "../ui/inputs/RadioCards"
import { words } from "../words/with_setup"
import css from "./entry.module.css"
import { ProviderForm } from "./ProviderForm"

/** What the server calls the demo's provider. */
const DEMO = "demo"

interface ModelStepProps {
  models: readonly ModelConfig[]
  onDone: () => void
  onLater: () => void
}

/** What is there already (the demo, or a model that was set up before), or a provider of one's own. */
export function ModelStep({ models, onDone, onLater }: ModelStepProps) {
  const [chosen, setChosen] = useState<string | null>(null)
  const text = words.setup.model
  const ready = models.filter((model) => model.enabled)
  const offered = [ready.find((model) => model.is_default), ready.find(isDemo)].filter((model) => model !== undefined)
  const cards = [...new Set(offered)].map((model) => ({
    value: model.id,
    label: isDemo(model) ? text.demo : text.found(model.display_name || model.model),
    text: isDemo(model) ? text.demoText : text.foundText(model.provider_name),
  }))
  const later = (
    <Button kind="quiet" onClick={onLater}>
      {text.later}
    </Button>
  )
  const value = chosen ?? cards[0]?.value ?? "provider"
  return (
    <div className={css["form"]}>
      {cards.length === 0 && <p className={css["text"]}>{text.none}</p>}
      <RadioCards
        label={text.title}
        value={value}
        onChange={setChosen}
        cards={[...cards, { value: "provider", label: text.provider, text: text.providerText }]}
      />
      {value === "provider" ? (
        <ProviderForm onDone={onDone} later={later} />
      ) : (
        <div className={css["actions"]}>
          <Button kind="primary" onClick={onDone}>
            {text.submit}
          </Button>
          {later}
        </div>
      )}
    </div>
  )
}

function isDemo(model: ModelConfig): boolean {
  return model.provider_name.toLowerCase().includes(DEMO)
}
