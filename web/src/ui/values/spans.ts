/** Times, spans, sums and sizes as words. Pure; the components beside it only put them on the page. */
import { words } from "../../words"

const second = 1000
const minute = 60 * second
const hour = 60 * minute
const day = 24 * hour

/** "3 min ago", "in 2 h", "now"; a date once it is further away than a week. */
export function relativeText(then: number, now: number): string {
  const away = Math.abs(now - then)
  if (away < 45 * second) return words.ui.now
  if (away >= 7 * day) return dateText(then, now)
  return then > now ? words.ui.inFuture(roundSpan(away)) : words.ui.inPast(roundSpan(away))
}

/** "3 min", "now": where there is little room and everything is past. */
export function shortText(then: number, now: number): string {
  const away = Math.abs(now - then)
  if (away < 45 * second || away >= 7 * day) return relativeText(then, now)
  return roundSpan(away)
}

function roundSpan(span: number): string {
  if (span < 59.5 * minute) return words.ui.minutes(Math.max(1, Math.round(span / minute)))
  return span < 23.5 * hour ? words.ui.hours(Math.round(span / hour)) : words.ui.days(Math.round(span / day))
}

function dateText(then: number, now: number): string {
  const isThisYear = new Date(then).getFullYear() === new Date(now).getFullYear()
  return new Date(then).toLocaleDateString("en", { day: "numeric", month: "short", ...(isThisYear ? {} : { year: "numeric" }) })
}

export function exactText(then: number): string {
  return new Date(then).toLocaleString("en", { dateStyle: "full", timeStyle: "medium" })
}

/** "340 ms", "3.2 s", "41 s", "2 min 5 s", "1 h 4 min". */
export function durationText(milliseconds: number): string {
  if (milliseconds < second) return words.ui.milliseconds(Math.max(0, Math.round(milliseconds)))
  if (milliseconds < 9950) return words.ui.seconds(Math.round(milliseconds / 100) / 10)
  const seconds = Math.round(milliseconds / second)
  if (seconds < 60) return words.ui.seconds(seconds)
  if (seconds < 3600) return pair(Math.floor(seconds / 60), seconds % 60, words.ui.minutes, words.ui.seconds)
  const minutes = Math.round(seconds / 60)
  if (minutes < 24 * 60) return pair(Math.floor(minutes / 60), minutes % 60, words.ui.hours, words.ui.minutes)
  const hours = Math.round(minutes / 60)
  return pair(Math.floor(hours / 24), hours % 24, words.ui.days, words.ui.hours)
}

function pair(large: number, small: number, largeWord: (count: number) => string, smallWord: (count: number) => string): string {
  return small === 0 ? largeWord(large) : `${largeWord(large)} ${smallWord(small)}`
}

/** Millionths of a dollar: four places below a dollar, two from there on; never a zero for what was not free. */
export function moneyText(micros: number): string {
  const sign = micros < 0 ? "−" : ""
  const size = Math.abs(micros)
  if (size === 0) return "$0"
  if (size < 100) return `${sign}<$0.0001`
  const places = size < 999_950 ? 4 : 2
  return `${sign}$${(size / 1_000_000).toLocaleString("en", { minimumFractionDigits: places, maximumFractionDigits: places })}`
}

const units = ["B", "kB", "MB", "GB", "TB"]

export function bytesText(bytes: number): string {
  let size = bytes
  let unit = 0
  while (size >= 999.5 && unit < units.length - 1) {
    size /= 1000
    unit += 1
  }
  const shown = unit === 0 || size >= 9.95 ? Math.round(size) : Math.round(size * 10) / 10
  return `${shown} ${units[unit]}`
}
