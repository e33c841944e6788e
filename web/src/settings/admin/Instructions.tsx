import { useQuery, useQueryClient } from "@tanstack/react-query"
import { request } from "../../api/request"
import type { PlanModeInstructions, SystemPrompt } from "../../api/schema"
import { Checkbox } from "../../ui/inputs/Checkbox"
import { Field } from "../../ui/inputs/Field"
import { TextArea } from "../../ui/inputs/TextArea"
import { Disclosure } from "../../ui/layout/Disclosure"
import { PageTitle, Section } from "../../ui/layout/Page"
import { words } from "../../words/with_settings"
import { SettingsForm } from "../form/SettingsForm"
import { useForm } from "../form/use_form"
import { Loaded } from "../Loaded"
import css from "../place.module.css"
import { questions } from "../questions"

export function Instructions() {
  const system = useQuery(questions.systemPrompt)
  const plan = useQuery(questions.planInstructions)
  const text = words.settings.instructions
  return (
    <>
      <PageTitle title={words.settings.pages.instructions} text={text.text} />
      <Section title={text.system} text={text.systemText}>
        <Loaded query={system}>{(found) => <SystemPromptForm stored={found} />}</Loaded>
      </Section>
      <Section title={text.plan} text={text.planText}>
        <Loaded query={plan}>{(found) => <PlanForm stored={found} />}</Loaded>
      </Section>
    </>
  )
}

function SystemPromptForm({ stored }: { stored: SystemPrompt }) {
  const client = useQueryClient()
  const text = words.settings.instructions
  const { system_prompt, include_default_system_prompt } = stored
  const form = useForm({ system_prompt, include_default_system_prompt }, async (value) => {
    await request("PUT /api/experimental/chats/config/system-prompt", { body: value })
    await client.invalidateQueries({ queryKey: questions.systemPrompt.queryKey })
  })
  return (
    <SettingsForm form={form}>
      <Field label={text.system} isLabelHidden error={form.of("system_prompt")}>
        <TextArea value={form.value.system_prompt} onChange={(next) => form.set({ system_prompt: next })} minRows={6} />
      </Field>
      <Checkbox
        label={text.include}
        hint={text.includeHint}
        isChecked={form.value.include_default_system_prompt}
        onChange={(next) => form.set({ include_default_system_prompt: next })}
      />
      <Disclosure summary={text.own}>
        <p className={css["prose"]}>{stored.default_system_prompt}</p>
      </Disclosure>
    </SettingsForm>
  )
}

function PlanForm({ stored }: { stored: PlanModeInstructions }) {
  const client = useQueryClient()
  const text = words.settings.instructions
  const form = useForm(stored, async (value) => {
    await request("PUT /api/experimental/chats/config/plan-mode-instructions", { body: value })
    await client.invalidateQueries({ queryKey: questions.planInstructions.queryKey })
  })
  return (
    <SettingsForm form={form}>
      <Field label={text.plan} isLabelHidden error={form.of("plan_mode_instructions")}>
        <TextArea value={form.value.plan_mode_instructions} onChange={(next) => form.set({ plan_mode_instructions: next })} minRows={4} />
      </Field>
    </SettingsForm>
  )
}
