import { useQuery, useQueryClient } from "@tanstack/react-query"
import { request } from "../../api/request"
import type { UserPrompt } from "../../api/schema"
import { Field } from "../../ui/inputs/Field"
import { TextArea } from "../../ui/inputs/TextArea"
import { PageTitle } from "../../ui/layout/Page"
import { words } from "../../words/with_settings"
import { SettingsForm } from "../form/SettingsForm"
import { useForm } from "../form/use_form"
import { Loaded } from "../Loaded"
import { questions } from "../questions"

export function PersonalPrompt() {
  const stored = useQuery(questions.userPrompt)
  return (
    <>
      <PageTitle title={words.settings.pages.prompt} text={words.settings.prompt.text} />
      <Loaded query={stored}>{(found) => <PromptForm stored={found} />}</Loaded>
    </>
  )
}

function PromptForm({ stored }: { stored: UserPrompt }) {
  const client = useQueryClient()
  const form = useForm(stored, async (value) => {
    const now = await request("PUT /api/experimental/chats/config/user-prompt", { body: value })
    client.setQueryData(questions.userPrompt.queryKey, now)
    return now
  })
  const text = words.settings.prompt
  return (
    <SettingsForm form={form}>
      <Field label={text.label} hint={text.hint} error={form.of("custom_prompt")}>
        <TextArea value={form.value.custom_prompt} onChange={(custom_prompt) => form.set({ custom_prompt })} minRows={8} />
      </Field>
    </SettingsForm>
  )
}
