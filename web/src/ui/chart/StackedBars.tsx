import { type KeyboardEvent, useState } from "react"
import { words } from "../../words"
import { classes } from "../classes"
import css from "./chart.module.css"
import { ChartTable } from "./ChartTable"
import { shownLabels, ticks } from "./scale"
import { type Place, type Series, seriesColour, totalOf } from "./series"
import { useWidth } from "./use_width"

export interface StackedBarsProps {
  /** What is shown, as in "Cost by day". */
  label: string
  /** At most six (`fitted`). */
  series: readonly Series[]
  /** From left to right: days, mostly. */
  places: readonly Place[]
  format: (value: number) => string
  /** For the axis, where a figure may be rounder. */
  formatAxis?: ((value: number) => string) | undefined
  height?: number | undefined
}

const left = 64
const bottom = 24
const top = 8
const labelWidth = 56

/** One bar per day, one colour per series. Arrows walk from bar to bar; the line below says what each holds. */
export function StackedBars({ label, series, places, format, formatAxis = format, height = 220 }: StackedBarsProps) {
  const [box, width] = useWidth<HTMLDivElement>()
  const [current, setCurrent] = useState<number | null>(null)
  const marks = ticks(Math.max(0, ...places.map((place) => totalOf(place, series))))
  const highest = marks.at(-1) || 1
  const step = Math.max(0, width - left) / Math.max(1, places.length)
  const y = (value: number) => height - bottom - (value / highest) * (height - bottom - top)
  const labels = shownLabels(places.length, width - left, labelWidth)
  const told = current === null ? null : places[current]

  function press(event: KeyboardEvent): void {
    const from = current ?? 0
    const next: Record<string, number> = { ArrowRight: from + 1, ArrowLeft: from - 1, Home: 0, End: places.length - 1 }
    const to = next[event.key]
    if (to === undefined || !places[to]) return
    event.preventDefault()
    setCurrent(to)
    event.currentTarget.querySelector<SVGElement>(`[data-place="${to}"]`)?.focus()
  }

  return (
    <figure className={css["chart"]}>
      <figcaption className={css["head"]}>
        <span className={css["title"]}>{label}</span>
        <Legend series={series} />
      </figcaption>
      <div ref={box} className={css["box"]}>
        {places.length === 0 ? (
          <p className={css["none"]}>{words.ui.chart.noData}</p>
        ) : (
          <svg width={width} height={height} role="group" aria-label={label} className={css["drawing"]} onKeyDown={press}>
            {marks.map((mark) => (
              <g key={mark} aria-hidden>
                <line x1={left} x2={width} y1={y(mark)} y2={y(mark)} className={css["grid"]} />
                <text x={left - 8} y={y(mark)} dy="0.32em" textAnchor="end" className={css["axis"]}>
                  {formatAxis(mark)}
                </text>
              </g>
            ))}
            {places.map((place, at) => (
              <g
                key={place.key}
                role="img"
                aria-label={saidOf(place, series, format)}
                tabIndex={at === (current ?? 0) ? 0 : -1}
                data-place={at}
                className={classes(css["bar"], at === current && css["current"])}
                onFocus={() => setCurrent(at)}
                onPointerEnter={() => setCurrent(at)}
              >
                <rect x={left + at * step} y={top} width={step} height={height - bottom - top} className={css["reach"]} />
                <Parts place={place} series={series} x={left + at * step + step * 0.15} width={Math.max(1, step * 0.7)} y={y} />
                {labels.has(at) && (
                  <text {...labelPlace(at, places.length, step, width)} y={height - 8} className={css["axis"]} aria-hidden>
                    {place.label}
                  </text>
                )}
              </g>
            ))}
          </svg>
        )}
        <p className={css["told"]} aria-hidden>
          {told ? saidOf(told, series, format) : "\u00a0"}
        </p>
        <ChartTable caption={words.ui.chart.tableOf(label)} placeHeader={words.ui.chart.day} {...{ series, places, format }} />
      </div>
    </figure>
  )
}

function Parts({ place, series, x, width, y }: { place: Place; series: readonly Series[]; x: number; width: number; y: (value: number) => number }) {
  let below = 0
  return series.map((one, at) => {
    const value = place.values[one.key] ?? 0
    const from = below
    below += value
    if (value <= 0) return null
    return <rect key={one.key} x={x} width={width} y={y(below)} height={Math.max(0.5, y(from) - y(below))} className={css[seriesColour(at)]} />
  })
}

function Legend({ series }: { series: readonly Series[] }) {
  if (series.length < 2) return null
  return (
    <ul className={css["legend"]}>
      {series.map((one, at) => (
        <li key={one.key} className={css["key"]}>
          <span aria-hidden className={classes(css["swatch"], css[seriesColour(at)])} />
          {one.label}
        </li>
      ))}
    </ul>
  )
}

/** In the middle below its bar; the last one ends where the drawing does. */
function labelPlace(at: number, count: number, step: number, width: number): { x: number; textAnchor: "middle" | "end" } {
  const isLast = at === count - 1 && step < labelWidth
  return isLast ? { x: width, textAnchor: "end" } : { x: left + (at + 0.5) * step, textAnchor: "middle" }
}

function saidOf(place: Place, series: readonly Series[], format: (value: number) => string): string {
  const parts = series.filter((one) => (place.values[one.key] ?? 0) > 0).map((one) => `${one.label} ${format(place.values[one.key] ?? 0)}`)
  const total = format(totalOf(place, series))
  return words.ui.chart.mark(place.label, total, parts.length > 1 ? parts.join(", ") : "")
}
