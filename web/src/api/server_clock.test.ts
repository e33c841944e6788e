import fc from "fast-check"
import { expect, it } from "vitest"
import { type Bounds, boundsOf, narrowed, offsetOf } from "./server_clock"

const answers = fc.array(fc.record({ pause: fc.integer({ min: 0, max: 60_000 }), there: fc.integer({ min: 0, max: 3000 }), back: fc.integer({ min: 0, max: 3000 }) }), {
  minLength: 1,
  maxLength: 20,
})

/** The bounds after answers of a server that is so much ahead. */
function heard(ahead: number, all: { pause: number; there: number; back: number }[], begin = 1_000_000_000_000): Bounds {
  let now = begin
  let known: Bounds | null = null
  for (const { pause, there, back } of all) {
    const asked = now + pause
    const answered = asked + there
    now = answered + back
    const date = Math.floor((answered + ahead) / 1000) * 1000
    known = narrowed(known, boundsOf(date, asked, now))
  }
  return known ?? { low: 0, high: 0 }
}

it("is right up to the second and the way of the quickest answer, whatever the networks do", () => {
  fc.assert(
    fc.property(fc.integer({ min: -10 * 60_000, max: 10 * 60_000 }), answers, (ahead, all) => {
      const bounds = heard(ahead, all)
      expect(bounds.low).toBeLessThanOrEqual(ahead)
      expect(bounds.high).toBeGreaterThanOrEqual(ahead)
      const quickest = Math.min(...all.map(({ there, back }) => there + back))
      expect(bounds.high - bounds.low).toBeLessThanOrEqual(1000 + quickest)
      expect(Math.abs(offsetOf(bounds) - ahead)).toBeLessThanOrEqual(1000 + quickest)
    }),
  )
})

it("leaves a clock alone that may be right", () => {
  fc.assert(
    fc.property(answers, (all) => {
      expect(offsetOf(heard(0, all))).toBe(0)
    }),
  )
})

it("begins anew when a clock was set", () => {
  const before = heard(0, [{ pause: 0, there: 10, back: 10 }])
  const after = boundsOf(1_000_000_600_000, 1_000_000_000_000, 1_000_000_000_020)
  expect(narrowed(before, after)).toBe(after)
})
