import { useQueryClient } from "@tanstack/react-query"
import { useState } from "react"
import { useLocation } from "wouter"
import { queries } from "../../api/queries"
import { request } from "../../api/request"
import type { Provider } from "../../api/schema"
import { Button } from "../../ui/buttons/Button"
import { toast } from "../../ui/floating/toast"
import { Field } from "../../ui/inputs/Field"
import { TextInput } from "../../ui/inputs/TextInput"
import { PageTitle } from "../../ui/layout/Page"
import { words } from "../../words/with_settings"
import { DeletableForm } from "../form/DeletableForm"
import { SettingsForm } from "../form/SettingsForm"
import { useForm } from "../form/use_form"
import { questions } from "../questions"
import { kinds } from "./kinds"
import { asUpdate, lacks, newProvider, typedFrom } from "./provider_form"
import { ProviderFields } from "./ProviderFields"
import { ProviderTestResult, useTrial } from "./ProviderTestResult"

function useProvidersChanged(): () => Promise<void> {
  const client = useQueryClient()
  return async () => {
    await Promise.all([questions.providers, queries.models].map(({ queryKey }) => client.invalidateQueries({ queryKey })))
  }
}

export function ProviderEdit({ provider }: { provider: Provider }) {
  const changed = useProvidersChanged()
  const text = words.settings.providers
  const path = { provider: provider.id }
  const form = useForm(typedFrom(provider), async (_, changes) => {
    const stored = await request("PATCH /api/experimental/chats/providers/{provider}", { path, body: asUpdate(changes) })
    await changed()
    return typedFrom(stored)
  })
  const trial = useTrial(() => {
    const { base_url, options, api_key } = form.value
    const body = { base_url, options, ...(api_key && { api_key }) }
    return request("POST /api/experimental/chats/providers/{provider}/test", { path, body })
  })
  return (
    <>
      <PageTitle title={provider.display_name || provider.name} text={kinds[provider.type].label} />
      <DeletableForm
        form={form}
        name={provider.name}
        text={text.deleteText}
        back="/settings/providers"
        onDelete={() => request("DELETE /api/experimental/chats/providers/{provider}", { path })}
        onDeleted={changed}
        actions={
          <Button onClick={trial.run} isBusy={trial.isRunning} busyText={text.testing}>
            {text.test}
          </Button>
        }
      >
        <ProviderFields form={form} isNew={false} hasKey={provider.has_api_key} />
        <ProviderTestResult answer={trial.answer} />
      </DeletableForm>
    </>
  )
}

export function ProviderAdd() {
  const [, navigate] = useLocation()
  const changed = useProvidersChanged()
  const text = words.settings.providers
  const [model, setModel] = useState("")
  const form = useForm(
    newProvider,
    async (value) => {
      const made = await request("POST /api/experimental/chats/providers", { body: { ...value, api_key: value.api_key || null } })
      await changed()
      toast(text.added(made.display_name || made.name))
      const next = new URLSearchParams({ provider: made.id, ...(needsModel && model && { model }) })
      navigate(`/settings/models/new?${next}`, { replace: true })
    },
    lacks,
  )
  const needsModel = !kinds[form.value.type].hasOwnModels
  const trial = useTrial(() => {
    const { type, base_url, options, api_key } = form.value
    const body = { type, base_url, options, api_key: api_key || null, ...(needsModel && { model }) }
    return request("POST /api/experimental/chats/providers/test", { body })
  })
  return (
    <>
      <PageTitle title={text.addTitle} text={text.addText} />
      <SettingsForm
        form={form}
        isNew
        submit={text.add}
        actions={
          <Button
            onClick={trial.run}
            isBusy={trial.isRunning}
            busyText={text.testing}
            disabled={lacks(form.value).length > 0 || (needsModel && model === "")}
          >
            {text.test}
          </Button>
        }
      >
        <ProviderFields form={form} isNew hasKey={false} />
        {needsModel && (
          <Field label={text.tryWith} hint={text.tryWithHint} isOptional>
            <TextInput value={model} onChange={setModel} isCode />
          </Field>
        )}
        <ProviderTestResult answer={trial.answer} />
      </SettingsForm>
    </>
  )
}
