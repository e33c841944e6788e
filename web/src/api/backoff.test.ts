import { expect, it } from "vitest"
import { backoffMs } from "./backoff"

it("waits twice as long each time, up to half a minute", () => {
  const middle = () => 0.5
  expect([1, 2, 3, 4, 5, 6, 100].map((attempt) => backoffMs(attempt, middle))).toEqual([1000, 2000, 4000, 8000, 16000, 30000, 30000])
})

it("spreads clients by three tenths", () => {
  expect(backoffMs(1, () => 0)).toBe(700)
  expect(backoffMs(1, () => 1)).toBe(1300)
})
