/** Periods of whole days, in UTC as the server counts them. */
export type PeriodName = "week" | "month" | "quarter"

export const periodDays: Record<PeriodName, number> = { week: 7, month: 30, quarter: 90 }

export interface Span {
  start_date: string
  end_date: string
}

const DAY = 86_400_000

/** Up to the end of today, so that the question stays the same for a day. */
export function spanOf(period: PeriodName, now: number): Span {
  const tomorrow = (Math.floor(now / DAY) + 1) * DAY
  return { start_date: new Date(tomorrow - periodDays[period] * DAY).toISOString(), end_date: new Date(tomorrow).toISOString() }
}

export function daysOf(span: Span): string[] {
  const start = Date.parse(span.start_date)
  const count = Math.round((Date.parse(span.end_date) - start) / DAY)
  return Array.from({ length: count }, (_, place) => new Date(start + place * DAY).toISOString().slice(0, 10))
}

export function dayText(day: string): string {
  return new Date(`${day}T00:00:00Z`).toLocaleDateString("en", { day: "numeric", month: "short", timeZone: "UTC" })
}
