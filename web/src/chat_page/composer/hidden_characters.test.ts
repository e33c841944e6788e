import { expect, test } from "vitest"
import { countHidden, withoutHidden } from "./hidden_characters"

test("characters that nobody sees are counted and taken out", () => {
  const text = "de\u200blete\u202e all\u{E0041}"
  expect(countHidden(text)).toBe(3)
  expect(withoutHidden(text)).toBe("delete all")
})

test("what people write is left alone", () => {
  for (const text of ["naïve", "👩‍👩‍👧", "日本語", "👍🏽", "a\tb\n"]) {
    expect(countHidden(text)).toBe(0)
    expect(withoutHidden(text)).toBe(text)
  }
})
