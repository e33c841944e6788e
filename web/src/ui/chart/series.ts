/** What is drawn: one value per place and series. */
export interface Series {
  key: string
  label: string
}

export interface Place {
  key: string
  label: string
  /** By the key of the series; what is missing is zero. */
  values: Readonly<Record<string, number>>
}

const colours = ["series1", "series2", "series3", "series4", "series5", "series6"] as const

/** The smallest series beyond the last colour but one become one. */
export const mostSeries = colours.length

/** Of the n-th series, in every chart of a page. */
export function seriesColour(at: number): string {
  return colours[Math.min(at, mostSeries - 1)] ?? colours[0]
}

export interface Fitted {
  series: readonly Series[]
  places: readonly Place[]
}

export function fitted(series: readonly Series[], places: readonly Place[], restLabel: string): Fitted {
  if (series.length <= mostSeries) return { series, places }
  const sums = new Map(series.map((one) => [one.key, places.reduce((sum, place) => sum + (place.values[one.key] ?? 0), 0)]))
  const sorted = [...series].sort((one, other) => (sums.get(other.key) ?? 0) - (sums.get(one.key) ?? 0))
  const kept = sorted.slice(0, mostSeries - 1)
  const rest = sorted.slice(mostSeries - 1)
  const restKey = "(rest)"
  return {
    series: [...kept, { key: restKey, label: restLabel }],
    places: places.map((place) => ({
      ...place,
      values: {
        ...Object.fromEntries(kept.map((one) => [one.key, place.values[one.key] ?? 0])),
        [restKey]: rest.reduce((sum, one) => sum + (place.values[one.key] ?? 0), 0),
      },
    })),
  }
}

export function totalOf(place: Place, series: readonly Series[]): number {
  return series.reduce((sum, one) => sum + (place.values[one.key] ?? 0), 0)
}
