/** Costs as the charts and the file have them. */
import type { CostSummary, DayCost, ModelCost, UserCost } from "../../api/schema"
import { fitted, type Fitted, type Place } from "../../ui/chart/series"
import { words } from "../../words/with_settings"
import type { CsvValue } from "./csv"
import { dayText } from "./periods"

export function modelName(model: ModelCost): string {
  return model.display_name || model.model || words.settings.usage.goneModel
}

/** Names are the keys: a model that was deleted and added again is one line of the legend. */
export function stacked(days: readonly string[], found: readonly DayCost[]): Fitted {
  const byDay = new Map(found.map((one) => [one.day.slice(0, 10), one.by_model]))
  const names = new Set(found.flatMap((one) => one.by_model.map(modelName)))
  const series = [...names].sort().map((name) => ({ key: name, label: name }))
  const places = days.map((day) => placeOf(day, byDay.get(day) ?? []))
  return fitted(series, places, words.ui.chart.others)
}

function placeOf(day: string, models: readonly ModelCost[]): Place {
  const values: Record<string, number> = {}
  for (const model of models) values[modelName(model)] = (values[modelName(model)] ?? 0) + model.total_cost_micros
  return { key: day, label: dayText(day), values }
}

const MOST_CHATS = 100

interface Figures {
  total_cost_micros: number
  request_count: number
  unpriced_request_count: number
}

/** The server names the dearest chats. What the others have cost together; null where there are none. */
export function otherChats(summary: CostSummary): Figures | null {
  if (summary.by_chat.length < MOST_CHATS) return null
  const rest = (name: keyof Figures) => Math.max(0, summary[name] - summary.by_chat.reduce((sum, chat) => sum + chat[name], 0))
  const others = { total_cost_micros: rest("total_cost_micros"), request_count: rest("request_count"), unpriced_request_count: rest("unpriced_request_count") }
  return others.request_count > 0 ? others : null
}

export function csvRows(summary: CostSummary, users: readonly UserCost[]): CsvValue[][] {
  const { kinds: text, otherChats: otherName } = words.settings.usage
  const others = otherChats(summary)
  const figures = (one: Figures) => [(one.total_cost_micros / 1_000_000).toFixed(6), one.request_count, one.unpriced_request_count]
  return [
    ...summary.by_day.flatMap(({ day, by_model }) => by_model.map((one) => [text.day, day.slice(0, 10), modelName(one), ...figures(one)])),
    ...summary.by_model.map((one) => [text.model, "", modelName(one), ...figures(one)]),
    ...summary.by_chat.map((one) => [text.chat, "", one.title || one.chat_id, ...figures(one)]),
    ...(others ? [[text.chat, "", otherName, ...figures(others)]] : []),
    ...users.map((one) => [text.user, "", one.username, ...figures(one)]),
  ]
}
