import { useQuery, useQueryClient } from "@tanstack/react-query"
import { request } from "../../api/request"
import type { WorkspaceTtl } from "../../api/schema"
import { Field } from "../../ui/inputs/Field"
import { NumberInput } from "../../ui/inputs/NumberInput"
import { PageTitle } from "../../ui/layout/Page"
import { words } from "../../words/with_settings"
import { SettingsForm } from "../form/SettingsForm"
import { useForm } from "../form/use_form"
import { Loaded } from "../Loaded"
import { questions } from "../questions"

const MINUTE = 60_000

export function Lifetime() {
  const stored = useQuery(questions.workspaceTtl)
  const text = words.settings.lifetime
  return (
    <>
      <PageTitle title={words.settings.pages.lifetime} text={text.text} />
      <Loaded query={stored}>{(found) => <LifetimeForm stored={found} />}</Loaded>
    </>
  )
}

function LifetimeForm({ stored }: { stored: WorkspaceTtl }) {
  const client = useQueryClient()
  const text = words.settings.lifetime
  const form = useForm({ minutes: stored.workspace_ttl_ms / MINUTE }, async ({ minutes }) => {
    await request("PUT /api/experimental/chats/config/workspace-ttl", { body: { workspace_ttl_ms: Math.round(minutes * MINUTE) } })
    await client.invalidateQueries({ queryKey: questions.workspaceTtl.queryKey })
  })
  return (
    <SettingsForm form={form}>
      <Field label={text.label} hint={text.hint} error={form.of("workspace_ttl_ms")}>
        <NumberInput value={form.value.minutes} onChange={(minutes) => form.set({ minutes: minutes ?? 0 })} min={0} step={15} unit={text.unit} />
      </Field>
    </SettingsForm>
  )
}
