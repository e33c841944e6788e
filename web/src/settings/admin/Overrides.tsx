import { useQueries, useQuery, useQueryClient } from "@tanstack/react-query"
import { queries } from "../../api/queries"
import { request } from "../../api/request"
import type { ModelConfig, ModelContext } from "../../api/schema"
import { Field } from "../../ui/inputs/Field"
import { Select } from "../../ui/inputs/Select"
import { PageTitle } from "../../ui/layout/Page"
import { Banner } from "../../ui/status/Banner"
import { SkeletonLines } from "../../ui/status/Skeleton"
import { words } from "../../words/with_settings"
import { SettingsForm } from "../form/SettingsForm"
import { useForm } from "../form/use_form"
import { Loaded } from "../Loaded"
import { questions } from "../questions"

const contexts: readonly ModelContext[] = ["general", "explore", "title_generation", "compaction"]

/** In place of a model: the chat's own. */
const OWN = "own"

type Chosen = Record<ModelContext, string>

export function Overrides() {
  const models = useQuery(queries.models)
  const overrides = useQueries({ queries: contexts.map(questions.override) })
  const failed = overrides.find((one) => one.isError)
  const found = overrides.flatMap((one) => (one.data ? [one.data] : []))
  const of = (context: ModelContext) => found.find((one) => one.context === context)?.model_config_id ?? OWN
  const stored = { general: of("general"), explore: of("explore"), title_generation: of("title_generation"), compaction: of("compaction") }
  const text = words.settings.overrides
  return (
    <>
      <PageTitle title={words.settings.pages.overrides} text={text.text} />
      {found.some((one) => one.is_malformed) && <Banner kind="warn" title={text.malformed} text={text.malformedText} />}
      {failed ? (
        <Loaded query={failed}>{() => null}</Loaded>
      ) : found.length < contexts.length ? (
        <SkeletonLines count={4} height="32px" />
      ) : (
        <Loaded query={models}>{(list) => <OverrideForm models={list} stored={stored} />}</Loaded>
      )}
    </>
  )
}

function OverrideForm({ models, stored }: { models: readonly ModelConfig[]; stored: Chosen }) {
  const client = useQueryClient()
  const text = words.settings.overrides
  const form = useForm(stored, async (value, changes) => {
    for (const context of contexts.filter((one) => one in changes)) {
      const body = value[context] === OWN ? {} : { model_config_id: value[context] }
      await request("PUT /api/experimental/chats/config/model-override/{context}", { path: { context }, body })
    }
    await client.invalidateQueries({ queryKey: ["settings", "override"] })
  })
  const choices = [{ value: OWN, label: text.none }, ...models.map((one) => ({ value: one.id, label: one.display_name || one.model }))]
  return (
    <SettingsForm form={form}>
      {contexts.map((context) => (
        <Field key={context} label={text.contexts[context]} hint={text.hints[context]}>
          <Select choices={choices} value={form.value[context]} onChange={(next) => form.set({ [context]: next })} />
        </Field>
      ))}
    </SettingsForm>
  )
}
