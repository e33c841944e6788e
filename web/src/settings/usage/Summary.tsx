import { ChartColumn, Download } from "lucide-react"
import { useEffect, useState } from "react"
import { Link } from "wouter"
import { saveAs } from "../../api/save_file"
import type { CostSummary } from "../../api/schema"
import { Button } from "../../ui/buttons/Button"
import { BarList } from "../../ui/chart/BarList"
import type { Series } from "../../ui/chart/series"
import { StackedBars } from "../../ui/chart/StackedBars"
import { Section } from "../../ui/layout/Page"
import { Table } from "../../ui/layout/Table"
import { EmptyState } from "../../ui/status/EmptyState"
import { durationText, moneyText } from "../../ui/values/spans"
import { words } from "../../words/with_settings"
import { attempted } from "../attempted"
import { csvText } from "./csv"
import { csvRows, modelName, otherChats, stacked } from "./figures"
import { daysOf, type Span } from "./periods"
import css from "./Summary.module.css"
import { everyonesCosts } from "./use_costs"

interface SummaryProps {
  summary: CostSummary
  span: Span
  mayReadEveryones: boolean
}

export function Summary({ summary, span, mayReadEveryones }: SummaryProps) {
  const text = words.settings.usage
  if (summary.request_count === 0) return <EmptyState icon={ChartColumn} title={text.none} text={text.noneText} />
  const others = otherChats(summary)
  const days = stacked(daysOf(span), summary.by_day)
  return (
    <>
      <div className={css["totals"]}>
        <Figure label={text.cost} value={moneyText(summary.total_cost_micros)} />
        <Figure label={text.requests} value={summary.request_count.toLocaleString("en")} />
        <Figure label={text.time} value={durationText(summary.runtime_ms)} />
        <SaveButton summary={summary} span={span} mayReadEveryones={mayReadEveryones} />
      </div>
      {summary.unpriced_request_count > 0 && <p className={css["note"]}>{text.unpriced(summary.unpriced_request_count)}</p>}
      <StackedBars label={text.byDay} {...days} format={moneyText} formatAxis={axisText} />
      <BarList
        label={text.byModel}
        bars={summary.by_model.map((one) => ({
          key: `${one.model_config_id}/${one.model}`,
          label: modelName(one),
          value: one.total_cost_micros,
          series: seriesOf(modelName(one), days.series),
        }))}
        format={moneyText}
      />
      <Section title={text.byChat}>
        <Table
          caption={text.byChat}
          isCaptionHidden
          rows={summary.by_chat}
          rowKey={(one) => one.chat_id}
          columns={[
            {
              key: "chat",
              header: text.kinds.chat,
              isMain: true,
              cell: (one) => <Link href={`/chats/${one.chat_id}`}>{one.title || text.untitled}</Link>,
            },
            { key: "requests", header: text.requests, align: "end", cell: (one) => one.request_count.toLocaleString("en") },
            { key: "cost", header: text.cost, align: "end", cell: (one) => moneyText(one.total_cost_micros) },
          ]}
        />
        {others && <p className={css["note"]}>{text.otherChatsCost(moneyText(others.total_cost_micros))}</p>}
      </Section>
    </>
  )
}

/** The file has all users, also those that the page has not read yet. */
function SaveButton({ summary, span, mayReadEveryones }: SummaryProps) {
  const [reading, setReading] = useState<AbortController | null>(null)
  const text = words.settings.usage
  useEffect(() => () => reading?.abort(), [reading])
  const save = async () => {
    const asked = new AbortController()
    setReading(asked)
    await attempted(text.csv, async () => {
      const users = mayReadEveryones ? await everyonesCosts(span, asked.signal) : []
      if (users === null) return
      saveAs(new Blob([csvText(text.columns, csvRows(summary, users))], { type: "text/csv" }), `usage-${span.start_date.slice(0, 10)}.csv`)
    })
    setReading(null)
  }
  return (
    <Button icon={Download} onClick={() => void save()} isBusy={reading !== null} busyText={text.readingUsers}>
      {text.csv}
    </Button>
  )
}

/** Among those that are drawn; one that is not is in the last, the rest. */
function seriesOf(name: string, series: readonly Series[]): number {
  const at = series.findIndex((one) => one.key === name)
  return at < 0 ? series.length - 1 : at
}

/** The steps are round: no more places than they need. */
function axisText(micros: number): string {
  return `$${(micros / 1_000_000).toLocaleString("en", { maximumFractionDigits: 6 })}`
}

function Figure({ label, value }: { label: string; value: string }) {
  return (
    <dl className={css["figure"]}>
      <dt>{label}</dt>
      <dd>{value}</dd>
    </dl>
  )
}
