import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { bytesText, durationText, moneyText, relativeText, shortText } from "./spans"
import { asAriaShortcut, keysOf } from "./shortcut"

const now = Date.UTC(2026, 10, 15, 12, 0, 0)
const minute = 60_000
const hour = 60 * minute

describe("relative times", () => {
  it.each([
    [0, "now"],
    [44_000, "now"],
    [46_000, "1 min ago"],
    [59 * minute, "59 min ago"],
    [59.6 * minute, "1 h ago"],
    [23 * hour, "23 h ago"],
    [24 * hour, "1 d ago"],
    [6 * 24 * hour, "6 d ago"],
    [-5 * minute, "in 5 min"],
  ])("%d ms before is %s", (away, text) => expect(relativeText(now - away, now)).toBe(text))

  it.each([
    [10_000, "now"],
    [11 * minute, "11 min"],
    [2 * hour, "2 h"],
    [3 * 24 * hour, "3 d"],
    [30 * 24 * hour, "Oct 16"],
  ])("%d ms before is %s where there is little room", (away, text) => expect(shortText(now - away, now)).toBe(text))

  it("are dates once they are far away", () => {
    expect(relativeText(now - 30 * 24 * hour, now)).toBe("Oct 16")
    expect(relativeText(now - 400 * 24 * hour, now)).toMatch(/2025/)
  })
})

describe("durations", () => {
  it.each([
    [0, "0 ms"],
    [340, "340 ms"],
    [3200, "3.2 s"],
    [9960, "10 s"],
    [41_000, "41 s"],
    [59_700, "1 min"],
    [125_000, "2 min 5 s"],
    [64 * minute, "1 h 4 min"],
    [26 * hour, "1 d 2 h"],
  ])("%d ms is %s", (milliseconds, text) => expect(durationText(milliseconds)).toBe(text))

  it("never shows sixty of anything", () => {
    fc.assert(fc.property(fc.nat(), (milliseconds) => !/\b(60 s|60 min|24 h)\b/.test(durationText(milliseconds))))
  })
})

describe("money", () => {
  it.each([
    [0, "$0"],
    [12, "<$0.0001"],
    [12_300, "$0.0123"],
    [999_949, "$0.9999"],
    [1_000_000, "$1.00"],
    [1_234_567_890, "$1,234.57"],
    [-12_300, "−$0.0123"],
  ])("%d millionths are %s", (micros, text) => expect(moneyText(micros)).toBe(text))
})

describe("sizes", () => {
  it.each([
    [0, "0 B"],
    [999, "999 B"],
    [1000, "1 kB"],
    [1500, "1.5 kB"],
    [999_999, "1 MB"],
    [12_345_678, "12 MB"],
  ])("%d bytes are %s", (bytes, text) => expect(bytesText(bytes)).toBe(text))
})

describe("shortcuts", () => {
  it("are printed as on the keyboard", () => {
    expect(keysOf("Mod+Shift+k", true)).toEqual(["⌘", "⇧", "K"])
    expect(keysOf("Mod+Shift+k", false)).toEqual(["Ctrl", "Shift", "K"])
    expect(keysOf("Mod++", false)).toEqual(["Ctrl", "+"])
    expect(keysOf("?", false)).toEqual(["?"])
  })
  it("are announced", () => expect(asAriaShortcut("Mod+K", true)).toBe("Meta+K"))
})
