import { useQuery, useQueryClient } from "@tanstack/react-query"
import { queries } from "../../api/queries"
import { request } from "../../api/request"
import type { Advisor, DesktopEnabled, ModelConfig } from "../../api/schema"
import { Checkbox } from "../../ui/inputs/Checkbox"
import { Field } from "../../ui/inputs/Field"
import { NumberInput } from "../../ui/inputs/NumberInput"
import { Select } from "../../ui/inputs/Select"
import { PageTitle, Section } from "../../ui/layout/Page"
import { words } from "../../words/with_settings"
import { SettingsForm } from "../form/SettingsForm"
import { useForm } from "../form/use_form"
import { Loaded } from "../Loaded"
import { questions } from "../questions"

export function AdvisorPage() {
  const advisor = useQuery(questions.advisor)
  const desktop = useQuery(questions.desktop)
  const models = useQuery(queries.models)
  const text = words.settings.advisor
  return (
    <>
      <PageTitle title={words.settings.pages.advisor} text={text.text} />
      <Section title={text.title} text={text.titleText}>
        <Loaded query={models}>{(list) => <Loaded query={advisor}>{(found) => <AdvisorForm stored={found} models={list} />}</Loaded>}</Loaded>
      </Section>
      <Section title={text.desktop} text={text.desktopText}>
        <Loaded query={desktop}>{(found) => <DesktopForm stored={found} />}</Loaded>
      </Section>
    </>
  )
}

/** In place of a model: the chat's own. */
const OWN = "own"

function AdvisorForm({ stored, models }: { stored: Advisor; models: readonly ModelConfig[] }) {
  const client = useQueryClient()
  const text = words.settings.advisor
  const { enabled = false, max_uses_per_run = 0, max_output_tokens = 0, model_config_id } = stored
  const form = useForm({ enabled, max_uses_per_run, max_output_tokens, model_config_id: model_config_id ?? OWN }, async (value) => {
    const model = value.model_config_id === OWN ? null : value.model_config_id
    const effort = model === (stored.model_config_id ?? null) ? (stored.reasoning_effort ?? null) : null
    await request("PUT /api/experimental/chats/config/advisor", { body: { ...value, model_config_id: model, reasoning_effort: effort } })
    await client.invalidateQueries({ queryKey: questions.advisor.queryKey })
  })
  const { value, set, of } = form
  return (
    <SettingsForm form={form}>
      <Checkbox label={text.enabled} isChecked={value.enabled} onChange={(next) => set({ enabled: next })} />
      <Field label={text.model} error={of("model_config_id")}>
        <Select
          choices={[{ value: OWN, label: words.settings.overrides.none }, ...models.map((one) => ({ value: one.id, label: one.display_name || one.model }))]}
          value={value.model_config_id}
          onChange={(next) => set({ model_config_id: next })}
        />
      </Field>
      <Field label={text.uses} hint={text.zero} error={of("max_uses_per_run")}>
        <NumberInput value={value.max_uses_per_run} onChange={(next) => set({ max_uses_per_run: next ?? 0 })} min={0} />
      </Field>
      <Field label={text.tokens} hint={text.zero} error={of("max_output_tokens")}>
        <NumberInput value={value.max_output_tokens} onChange={(next) => set({ max_output_tokens: next ?? 0 })} min={0} step={256} />
      </Field>
    </SettingsForm>
  )
}

function DesktopForm({ stored }: { stored: DesktopEnabled }) {
  const client = useQueryClient()
  const form = useForm(stored, async (value) => {
    await request("PUT /api/experimental/chats/config/desktop-enabled", { body: value })
    await client.invalidateQueries({ queryKey: questions.desktop.queryKey })
  })
  return (
    <SettingsForm form={form}>
      <Checkbox
        label={words.settings.advisor.desktopEnabled}
        isChecked={form.value.enable_desktop}
        onChange={(enable_desktop) => form.set({ enable_desktop })}
      />
    </SettingsForm>
  )
}
