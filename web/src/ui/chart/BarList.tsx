import { words } from "../../words"
import css from "./chart.module.css"
import { seriesColour } from "./series"

export interface Bar {
  key: string
  label: string
  value: number
  /** Which series of the chart above it is: it has its colour. */
  series?: number | undefined
}

export interface BarListProps {
  label: string
  bars: readonly Bar[]
  format: (value: number) => string
  /** Makes the names buttons, as in "show only this model". */
  onSelect?: ((key: string) => void) | undefined
}

/** Shares beside their names, the largest first as they are given. A table, so that nothing needs to be drawn to be known. */
export function BarList({ label, bars, format, onSelect }: BarListProps) {
  const highest = Math.max(...bars.map((bar) => bar.value), 0) || 1
  if (bars.length === 0) return <p className={css["none"]}>{words.ui.chart.noData}</p>
  return (
    <table className={css["bars"]}>
      <caption className={css["title"]}>{label}</caption>
      <thead className="unseen">
        <tr>
          <th scope="col">{words.ui.chart.name}</th>
          <th scope="col">{words.ui.chart.value}</th>
        </tr>
      </thead>
      <tbody>
        {bars.map((bar) => (
          <tr key={bar.key}>
            <th scope="row" className={css["name"]}>
              {onSelect ? (
                <button type="button" className={css["choose"]} onClick={() => onSelect(bar.key)}>
                  {bar.label}
                </button>
              ) : (
                bar.label
              )}
            </th>
            <td>
              <div className={css["share"]}>
                <svg aria-hidden width="100%" height="12" className={css["track"]}>
                  <rect width={`${(bar.value / highest) * 100}%`} height="12" rx="2" className={css[seriesColour(bar.series ?? 0)]} />
                </svg>
                <span className={css["value"]}>{format(bar.value)}</span>
              </div>
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}
