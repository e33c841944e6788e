import { describe, expect, test } from "vitest"
import type { CostSummary, ModelCost } from "../../api/schema"
import { csvText } from "./csv"
import { csvRows, otherChats, stacked } from "./figures"
import { daysOf, spanOf } from "./periods"

function model(name: string, micros: number, config: string | null = name): ModelCost {
  return { model_config_id: config, model: name, display_name: "", total_cost_micros: micros, request_count: 1, unpriced_request_count: 0 }
}

const summary: CostSummary = {
  user_id: "u",
  start_date: "2026-03-01T00:00:00Z",
  end_date: "2026-03-04T00:00:00Z",
  total_cost_micros: 6_000_000,
  request_count: 4,
  unpriced_request_count: 0,
  runtime_ms: 10,
  by_model: [model("owl", 4_000_000), model("fox", 2_000_000)],
  by_chat: [{ chat_id: "c", title: '=1+1, "quoted"', total_cost_micros: 6_000_000, request_count: 4, unpriced_request_count: 0 }],
  by_day: [
    { day: "2026-03-01", total_cost_micros: 4_000_000, request_count: 3, unpriced_request_count: 0, by_model: [model("owl", 3_000_000), model("owl", 1_000_000, "again")] },
    { day: "2026-03-03", total_cost_micros: 2_000_000, request_count: 1, unpriced_request_count: 0, by_model: [model("fox", 2_000_000)] },
  ],
}

describe("usage", () => {
  test("a period is whole days in UTC, up to the end of today", () => {
    const span = spanOf("week", Date.UTC(2026, 2, 3, 23, 59))
    expect(span).toEqual({ start_date: "2026-02-25T00:00:00.000Z", end_date: "2026-03-04T00:00:00.000Z" })
    expect(daysOf(span)).toHaveLength(7)
    expect(daysOf(span).at(-1)).toBe("2026-03-03")
  })

  test("each day has a bar, with the models of that day; two of one name are one", () => {
    const { series, places } = stacked(["2026-03-01", "2026-03-02", "2026-03-03"], summary.by_day)
    expect(series.map((one) => one.key)).toEqual(["fox", "owl"])
    expect(places.map((one) => one.values)).toEqual([{ owl: 4_000_000 }, {}, { fox: 2_000_000 }])
  })

  test("the file has a row for each model of a day, each model, each chat, each user, and no formula", () => {
    const user = { user_id: "u", username: "mia", display_name: "", total_cost_micros: 6_000_000, request_count: 4, unpriced_request_count: 0 }
    expect(csvText(["of", "day", "name", "usd", "requests", "unpriced"], csvRows(summary, [user])).split("\r\n")).toEqual([
      "of,day,name,usd,requests,unpriced",
      "Day,2026-03-01,owl,3.000000,1,0",
      "Day,2026-03-01,owl,1.000000,1,0",
      "Day,2026-03-03,fox,2.000000,1,0",
      "Model,,owl,4.000000,1,0",
      "Model,,fox,2.000000,1,0",
      'Chat,,"\'=1+1, ""quoted""",6.000000,4,0',
      "User,,mia,6.000000,4,0",
      "",
    ])
  })

  test("the file says what the chats that the server does not name have cost, so that its sums are whole", () => {
    const chats = Array.from({ length: 100 }, (_, place) => ({ chat_id: `c${place}`, title: "", total_cost_micros: 50_000, request_count: 1, unpriced_request_count: 0 }))
    const many = { ...summary, request_count: 103, by_chat: chats }
    expect(csvRows(many, []).filter(([kind]) => kind === "Chat").at(-1)).toEqual(["Chat", "", "All other chats", "1.000000", 3, 0])
    expect(otherChats({ ...many, request_count: 100 })).toBeNull()
    expect(otherChats(summary)).toBeNull()
  })
})
