import { useQuery, useQueryClient } from "@tanstack/react-query"
import { useLocation } from "wouter"
import { queries } from "../../api/queries"
import { request } from "../../api/request"
import type { ProvisionerKind, Template } from "../../api/schema"
import { Checkbox } from "../../ui/inputs/Checkbox"
import { Field } from "../../ui/inputs/Field"
import { NumberInput } from "../../ui/inputs/NumberInput"
import { Select } from "../../ui/inputs/Select"
import { TextArea } from "../../ui/inputs/TextArea"
import { TextInput } from "../../ui/inputs/TextInput"
import { PageTitle } from "../../ui/layout/Page"
import { words } from "../../words/with_settings"
import { DeletableForm } from "../form/DeletableForm"
import { SettingsForm } from "../form/SettingsForm"
import { type Form, useForm } from "../form/use_form"
import { Loaded } from "../Loaded"
import { questions } from "../questions"
import { asNew, asUpdate, jsonProblem, newTemplate, type TypedTemplate, typedFrom } from "./template_form"

const provisioners: readonly ProvisionerKind[] = ["docker", "local"]

function check({ config, parameters }: TypedTemplate): void {
  if (jsonProblem(config, "object") ?? jsonProblem(parameters, "list")) throw new Error(words.settings.templates.notJson)
}

export function TemplateAdd() {
  const [, navigate] = useLocation()
  const client = useQueryClient()
  const text = words.settings.templates
  const form = useForm(newTemplate, async (value) => {
    check(value)
    await request("POST /api/experimental/templates", { body: asNew(value) })
    await client.invalidateQueries({ queryKey: queries.templates.queryKey })
    navigate("/settings/templates", { replace: true })
  })
  return (
    <>
      <PageTitle title={text.add} text={text.addText} />
      <SettingsForm form={form} isNew submit={text.add}>
        <TemplateFields form={form} isNew />
      </SettingsForm>
    </>
  )
}

/** Only its own record has the configuration. */
export function TemplateEdit({ id }: { id: string }) {
  const template = useQuery(questions.template(id))
  return <Loaded query={template}>{(found) => <TemplateForm key={found.id} template={found} />}</Loaded>
}

function TemplateForm({ template }: { template: Template }) {
  const client = useQueryClient()
  const text = words.settings.templates
  const path = { template: template.id }
  const changed = () => client.invalidateQueries({ queryKey: queries.templates.queryKey })
  const form = useForm(typedFrom(template), async (value, changes) => {
    check(value)
    await request("PATCH /api/experimental/templates/{template}", { path, body: asUpdate(changes) })
    await changed()
  })
  return (
    <>
      <PageTitle title={template.display_name || template.name} text={text.used(template.workspace_count)} />
      <DeletableForm
        form={form}
        name={template.name}
        text={text.deleteText}
        back="/settings/templates"
        onDelete={() => request("DELETE /api/experimental/templates/{template}", { path })}
        onDeleted={changed}
      >
        <TemplateFields form={form} isNew={false} />
      </DeletableForm>
    </>
  )
}

function TemplateFields({ form, isNew }: { form: Form<TypedTemplate>; isNew: boolean }) {
  const { value, set, of } = form
  const text = words.settings.templates
  return (
    <>
      <Field label={text.name} error={of("name")}>
        <TextInput value={value.name} onChange={(name) => set({ name })} isCode />
      </Field>
      <Field label={words.settings.models.displayName} isOptional error={of("display_name")}>
        <TextInput value={value.display_name} onChange={(display_name) => set({ display_name })} />
      </Field>
      <Field label={text.description} hint={text.descriptionHint} isOptional error={of("description")}>
        <TextArea value={value.description} onChange={(description) => set({ description })} minRows={2} />
      </Field>
      {isNew && (
        <Field label={text.provisioner} error={of("provisioner")}>
          <Select
            choices={provisioners.map((kind) => ({ value: kind, label: text.provisioners[kind] }))}
            value={value.provisioner}
            onChange={(provisioner) => set({ provisioner })}
          />
        </Field>
      )}
      <Field label={text.config} hint={text.configHint} error={jsonProblem(value.config, "object") ?? of("config")}>
        <TextArea value={value.config} onChange={(config) => set({ config })} isCode spellCheck={false} minRows={6} />
      </Field>
      <Field label={text.parameters} hint={text.parametersHint} error={jsonProblem(value.parameters, "list") ?? of("parameters")}>
        <TextArea value={value.parameters} onChange={(parameters) => set({ parameters })} isCode spellCheck={false} minRows={3} />
      </Field>
      <Field label={words.settings.lifetime.label} hint={text.ttlHint} error={of("default_ttl_ms")}>
        <NumberInput
          value={value.ttl_minutes}
          onChange={(minutes) => set({ ttl_minutes: minutes ?? 0 })}
          min={0}
          step={15}
          unit={words.settings.lifetime.unit}
        />
      </Field>
      <Checkbox label={text.agents} hint={text.agentsHint} isChecked={value.agents_allowed} onChange={(agents_allowed) => set({ agents_allowed })} />
    </>
  )
}
