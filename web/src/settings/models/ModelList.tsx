import { useQueryClient } from "@tanstack/react-query"
import { Cpu, Plus } from "lucide-react"
import { Link, useLocation } from "wouter"
import { queries } from "../../api/queries"
import { request } from "../../api/request"
import type { ModelConfig, UpdateModelConfig } from "../../api/schema"
import { Button } from "../../ui/buttons/Button"
import { toast } from "../../ui/floating/toast"
import { Switch } from "../../ui/inputs/Switch"
import { PageTitle } from "../../ui/layout/Page"
import { Table } from "../../ui/layout/Table"
import { Badge } from "../../ui/status/Badge"
import { EmptyState } from "../../ui/status/EmptyState"
import { words } from "../../words/with_settings"
import css from "../place.module.css"

export function ModelList({ models }: { models: readonly ModelConfig[] }) {
  const [, navigate] = useLocation()
  const client = useQueryClient()
  const text = words.settings.models
  const add = (
    <Button kind="primary" icon={Plus} onClick={() => navigate("/settings/models/new")}>
      {text.add}
    </Button>
  )
  async function change(model: ModelConfig, body: UpdateModelConfig) {
    try {
      await request("PATCH /api/experimental/chats/model-configs/{model}", { path: { model: model.id }, body })
    } catch (failure) {
      toast(words.common.failed(text.changing), { kind: "error", text: failure instanceof Error ? failure.message : undefined })
    }
    await client.invalidateQueries({ queryKey: queries.models.queryKey })
  }
  return (
    <>
      <PageTitle title={words.settings.pages.models} text={text.text} actions={models.length > 0 && add} />
      {models.length === 0 ? (
        <EmptyState icon={Cpu} title={text.none} text={text.noneText} action={add} />
      ) : (
        <Table
          caption={words.settings.pages.models}
          isCaptionHidden
          rows={models}
          rowKey={(one) => one.id}
          columns={[
            {
              key: "name",
              header: text.model,
              isMain: true,
              cell: (one) => (
                <>
                  <Link href={`/settings/models/${one.id}`}>{one.display_name || one.model}</Link>
                  <span className={css["below"]}>
                    {one.model} · {one.provider_name}
                  </span>
                </>
              ),
            },
            { key: "context", header: text.contextLimit, align: "end", cell: (one) => one.context_limit.toLocaleString("en") },
            { key: "threshold", header: text.threshold, align: "end", cell: (one) => `${one.compression_threshold} %` },
            { key: "prices", header: text.prices, cell: (one) => <Prices model={one} /> },
            {
              key: "default",
              header: text.isDefault,
              isHeaderHidden: true,
              cell: (one) =>
                one.is_default ? (
                  <Badge kind="accent">{text.isDefault}</Badge>
                ) : (
                  <Button size="small" kind="quiet" onClick={() => void change(one, { is_default: true })}>
                    {text.makeDefault}
                  </Button>
                ),
            },
            {
              key: "enabled",
              header: words.settings.on,
              align: "end",
              cell: (one) => (
                <Switch
                  isOn={one.enabled}
                  onChange={(enabled) => void change(one, { enabled })}
                  aria-label={words.settings.switchOn(one.display_name || one.model)}
                />
              ),
            },
          ]}
        />
      )}
    </>
  )
}

function Prices({ model }: { model: ModelConfig }) {
  const text = words.settings.models
  const { input, output } = model.prices
  return (
    <span>
      {(input || output) && text.pricePair(input ?? "–", output ?? "–")}
      <span className={css["below"]}>{text.sources[model.price_source]}</span>
    </span>
  )
}
