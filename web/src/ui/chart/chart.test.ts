import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { shownLabels, ticks } from "./scale"
import { fitted, totalOf } from "./series"
import { trendPath } from "./trend"

describe("ticks", () => {
  it.each([
    [0, [0]],
    [4, [0, 1, 2, 3, 4]],
    [10, [0, 2.5, 5, 7.5, 10]],
    [0.0123, [0, 0.005, 0.01, 0.015]],
    [950, [0, 250, 500, 750, 1000]],
  ])("up to %d", (highest, expected) => expect(ticks(highest)).toEqual(expected))

  it("reach the highest with few steps", () => {
    fc.assert(
      fc.property(fc.double({ min: 1e-6, max: 1e12, noNaN: true }), (highest) => {
        const found = ticks(highest)
        return (found.at(-1) ?? 0) >= highest * (1 - 1e-9) && found.length <= 6
      }),
    )
  })
})

describe("labels", () => {
  it("don't touch, and the last is there", () => {
    expect(shownLabels(30, 600, 60)).toContain(29)
    expect(shownLabels(30, 600, 60).size).toBeLessThanOrEqual(10)
    expect(shownLabels(3, 600, 60).size).toBe(3)
    expect([...shownLabels(30, 310, 56)]).toEqual([5, 11, 17, 29])
  })
})

describe("series", () => {
  const series = Array.from({ length: 9 }, (_, place) => ({ key: `m${place}`, label: `Model ${place}` }))
  const places = [{ key: "d", label: "Day", values: Object.fromEntries(series.map((one, place) => [one.key, place + 1])) }]
  it("beyond six become one, and nothing is lost", () => {
    const result = fitted(series, places, "Others")
    expect(result.series.map((one) => one.label)).toEqual(["Model 8", "Model 7", "Model 6", "Model 5", "Model 4", "Others"])
    expect(result.places[0] && totalOf(result.places[0], result.series)).toBe(45)
  })
  it("up to six are left alone", () => expect(fitted(series.slice(0, 6), places, "Others").series).toHaveLength(6))
})

describe("a trend", () => {
  it("is a line from left to right, within its box", () => {
    expect(trendPath([0, 5, 10], 100, 20)).toBe("M1.0,19.0 L50.0,10.0 L99.0,1.0")
    expect(trendPath([3, 3], 100, 20)).toBe("M1.0,19.0 L99.0,19.0")
    expect(trendPath([], 100, 20)).toBe("")
  })
})
