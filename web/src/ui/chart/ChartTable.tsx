import { words } from "../../words"
import { type Place, type Series, totalOf } from "./series"

interface ChartTableProps {
  caption: string
  placeHeader: string
  series: readonly Series[]
  places: readonly Place[]
  format: (value: number) => string
}

/** The figures of a chart for those who hear the page. */
export function ChartTable({ caption, placeHeader, series, places, format }: ChartTableProps) {
  return (
    <div className="unseen">
      <table>
        <caption>{caption}</caption>
        <thead>
          <tr>
            <th scope="col">{placeHeader}</th>
            {series.map((one) => (
              <th key={one.key} scope="col">
                {one.label}
              </th>
            ))}
            <th scope="col">{words.ui.chart.total}</th>
          </tr>
        </thead>
        <tbody>
          {places.map((place) => (
            <tr key={place.key}>
              <th scope="row">{place.label}</th>
              {series.map((one) => (
                <td key={one.key}>{format(place.values[one.key] ?? 0)}</td>
              ))}
              <td>{format(totalOf(place, series))}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}
