import { useQuery, useQueryClient } from "@tanstack/react-query"
import { queries } from "../../api/queries"
import { request } from "../../api/request"
import type { CompactionThreshold, ModelConfig } from "../../api/schema"
import { Field } from "../../ui/inputs/Field"
import { NumberInput } from "../../ui/inputs/NumberInput"
import { PageTitle } from "../../ui/layout/Page"
import { EmptyState } from "../../ui/status/EmptyState"
import { words } from "../../words/with_settings"
import { SettingsForm } from "../form/SettingsForm"
import { useForm } from "../form/use_form"
import { Loaded } from "../Loaded"
import { questions } from "../questions"

export function Compaction() {
  const models = useQuery(queries.models)
  const thresholds = useQuery(questions.thresholds)
  const text = words.settings.compaction
  return (
    <>
      <PageTitle title={words.settings.pages.compaction} text={text.text} />
      <Loaded query={models}>
        {(list) => {
          const usable = list.filter((one) => one.enabled)
          if (usable.length === 0) return <EmptyState title={words.settings.models.none} text={text.noModels} />
          return <Loaded query={thresholds}>{(found) => <ThresholdForm models={usable} stored={found.thresholds} />}</Loaded>
        }}
      </Loaded>
    </>
  )
}

/** By model; null: as the admins have set it. */
type Typed = Record<string, number | null>

function ThresholdForm({ models, stored }: { models: readonly ModelConfig[]; stored: readonly CompactionThreshold[] }) {
  const client = useQueryClient()
  const text = words.settings.compaction
  const own = new Map(stored.map((one) => [one.model_config_id, one.threshold_percent]))
  const before: Typed = Object.fromEntries(models.map((one) => [one.id, own.get(one.id) ?? null]))
  const form = useForm(before, async (_, changes) => {
    try {
      for (const [model, percent] of Object.entries(changes)) await save(model, percent ?? null)
    } finally {
      await client.invalidateQueries({ queryKey: questions.thresholds.queryKey })
    }
  })
  return (
    <SettingsForm form={form}>
      {models.map((one) => (
        <Field key={one.id} layout="row" label={one.display_name || one.model} hint={text.usual(one.compression_threshold)}>
          <NumberInput value={form.value[one.id] ?? null} onChange={(percent) => form.set({ [one.id]: percent })} min={0} max={100} unit="%" />
        </Field>
      ))}
    </SettingsForm>
  )
}

async function save(model: string, percent: number | null): Promise<void> {
  const path = { model }
  if (percent === null) await request("DELETE /api/experimental/chats/config/user-compaction-thresholds/{model}", { path })
  else await request("PUT /api/experimental/chats/config/user-compaction-thresholds/{model}", { path, body: { threshold_percent: percent } })
}
