/** Costs as the charts and the file have them. */
import type { CostSummary, ModelCost, UserCost } from "../../api/schema"
import type { Place, Series } from "../../ui/chart/series"
import { words } from "../../words/with_settings"
import type { CsvValue } from "./csv"
import { dayText } from "./periods"

export interface DayOfModels {
  day: string
  models: readonly ModelCost[]
}

export function modelName(model: ModelCost): string {
  return model.display_name || model.model
}

/** Names are the keys: a model that was deleted and added again is one line of the legend. */
export function stacked(days: readonly string[], found: readonly DayOfModels[]): { series: Series[]; places: Place[] } {
  const byDay = new Map(found.map((one) => [one.day, one.models]))
  const names = new Set(found.flatMap((one) => one.models.map(modelName)))
  return { series: [...names].sort().map((name) => ({ key: name, label: name })), places: days.map((day) => placeOf(day, byDay.get(day) ?? [])) }
}

function placeOf(day: string, models: readonly ModelCost[]): Place {
  const values: Record<string, number> = {}
  for (const model of models) values[modelName(model)] = (values[modelName(model)] ?? 0) + model.total_cost_micros
  return { key: day, label: dayText(day), values }
}

/** Where the days are too many to ask for each: one bar a day, all models together. */
export function summed(days: readonly string[], summary: CostSummary): { series: Series[]; places: Place[] } {
  const byDay = new Map(summary.by_day.map((one) => [one.day.slice(0, 10), one.total_cost_micros]))
  const key = "all"
  return {
    series: [{ key, label: words.settings.usage.allModels }],
    places: days.map((day) => ({ key: day, label: dayText(day), values: { [key]: byDay.get(day) ?? 0 } })),
  }
}

export interface Shown {
  summary: CostSummary
  days: readonly DayOfModels[] | null
  titles: ReadonlyMap<string, string>
  users: readonly UserCost[]
}

interface Figures {
  total_cost_micros: number
  request_count: number
  unpriced_request_count: number
}

export function csvRows({ summary, days, titles, users }: Shown): CsvValue[][] {
  const text = words.settings.usage.kinds
  const figures = (one: Figures) => [(one.total_cost_micros / 1_000_000).toFixed(6), one.request_count, one.unpriced_request_count]
  const byDay = days
    ? days.flatMap(({ day, models }) => models.map((one) => [text.day, day, modelName(one), ...figures(one)]))
    : summary.by_day.map((one) => [text.day, one.day.slice(0, 10), "", ...figures(one)])
  return [
    ...byDay,
    ...summary.by_model.map((one) => [text.model, "", modelName(one), ...figures(one)]),
    ...summary.by_chat.map((one) => [text.chat, "", titles.get(one.chat_id) ?? one.chat_id, ...figures(one)]),
    ...users.map((one) => [text.user, "", one.username, ...figures(one)]),
  ]
}
