import { useQuery, useQueryClient } from "@tanstack/react-query"
import { useState } from "react"
import { useLocation, useSearchParams } from "wouter"
import { queries } from "../../api/queries"
import { request } from "../../api/request"
import type { ModelConfig, Provider } from "../../api/schema"
import { toast } from "../../ui/floating/toast"
import { Field } from "../../ui/inputs/Field"
import { Select } from "../../ui/inputs/Select"
import { TextInput } from "../../ui/inputs/TextInput"
import { PageTitle } from "../../ui/layout/Page"
import { words } from "../../words/with_settings"
import { DeletableForm } from "../form/DeletableForm"
import { SettingsForm } from "../form/SettingsForm"
import { useForm } from "../form/use_form"
import { asSent, isFirst, newModel, typedFrom, withKnown } from "./model_form"
import { ModelFields } from "./ModelFields"

export function ModelEdit({ model }: { model: ModelConfig }) {
  const client = useQueryClient()
  const text = words.settings.models
  const path = { model: model.id }
  const changed = () => client.invalidateQueries({ queryKey: queries.models.queryKey })
  const known = useQuery(queries.knownModels(model.provider_type))
  const form = useForm(typedFrom(model), async (_, changes) => {
    const stored = await request("PATCH /api/experimental/chats/model-configs/{model}", { path, body: asSent(changes) })
    await changed()
    return typedFrom(stored)
  })
  const catalogue = model.price_source === "catalogue" ? model.prices : (known.data?.find((one) => one.model === model.model)?.prices ?? null)
  return (
    <>
      <PageTitle title={model.display_name || model.model} text={`${model.model} · ${model.provider_name}`} />
      <DeletableForm
        form={form}
        name={model.model}
        text={text.deleteText}
        back="/settings/models"
        onDelete={() => request("DELETE /api/experimental/chats/model-configs/{model}", { path })}
        onDeleted={changed}
      >
        <ModelFields form={form} catalogue={catalogue} fixedDefault={model.is_default ? text.isDefaultFixed : null} />
      </DeletableForm>
    </>
  )
}

const BY_NAME = "(by name)"

export function ModelAdd({ providers, models: others }: { providers: readonly Provider[]; models: readonly ModelConfig[] }) {
  const [search] = useSearchParams()
  const [, navigate] = useLocation()
  const [isByName, setByName] = useState(search.has("model"))
  const client = useQueryClient()
  const text = words.settings.models
  const first = providers.find((one) => one.id === search.get("provider")) ?? providers[0]
  const form = useForm(newModel(first?.id ?? "", search.get("model") ?? ""), async (value) => {
    const { ai_provider_id, model } = value
    const made = await request("POST /api/experimental/chats/model-configs", { body: { ...asSent(value), ai_provider_id, model } })
    await client.invalidateQueries({ queryKey: queries.models.queryKey })
    toast(text.added(made.display_name || made.model, made.is_default))
    navigate("/settings/models", { replace: true })
  })
  const { value, set, of } = form
  const provider = providers.find((one) => one.id === value.ai_provider_id)
  const known = useQuery({ ...queries.knownModels(provider?.type ?? "openai-compat"), enabled: provider !== undefined })
  const models = known.data ?? []
  const isTyped = isByName || (known.isSuccess && models.length === 0)
  const isFixed = provider !== undefined && isFirst(provider, providers, others)
  return (
    <>
      <PageTitle title={text.addTitle} text={text.addText} />
      <SettingsForm form={form} isNew submit={text.add}>
        <Field label={text.provider} error={of("ai_provider_id")}>
          <Select
            choices={providers.map((one) => ({ value: one.id, label: one.display_name || one.name }))}
            value={value.ai_provider_id}
            onChange={(id) => set({ ...newModel(id) })}
          />
        </Field>
        <Field label={text.known} error={isTyped ? undefined : of("model")}>
          <Select
            choices={[{ value: BY_NAME, label: text.byName }, ...models.map((one) => ({ value: one.model, label: one.display_name || one.model }))]}
            value={isTyped ? BY_NAME : value.model || null}
            onChange={(chosen) => {
              const found = models.find((one) => one.model === chosen)
              setByName(!found)
              set(found ? withKnown(value, found) : newModel(value.ai_provider_id))
            }}
          />
        </Field>
        {isTyped && (
          <Field label={text.model} hint={text.modelHint} error={of("model")}>
            <TextInput value={value.model} onChange={(model) => set({ model })} isCode />
          </Field>
        )}
        <ModelFields
          form={form}
          catalogue={models.find((one) => one.model === value.model)?.prices ?? null}
          fixedDefault={isFixed ? text.isDefaultFirst : null}
        />
      </SettingsForm>
    </>
  )
}
