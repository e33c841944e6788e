import { expect, test } from "vitest"
import { generatedPassword } from "./generated_password"

test("a generated password can be read, is long, and is another each time", () => {
  const made = Array.from({ length: 200 }, generatedPassword)
  expect(new Set(made).size).toBe(made.length)
  for (const one of made) expect(one).toMatch(/^[a-z2-9]{5}(-[a-z2-9]{5}){3}$/)
  expect(made.join("")).not.toMatch(/[ilo01]/)
})

test("every letter comes", () => {
  const seen = new Set(Array.from({ length: 200 }, generatedPassword).join("").replaceAll("-", ""))
  expect(seen.size).toBe(31)
})
