import { expect, test } from "vitest"
import { searchFor } from "./search"

test("quotes and backslashes stay what they are", () => {
  expect(searchFor(" two words ")).toBe('search:"two words"')
  expect(searchFor('say "hi"')).toBe('search:"say \\"hi\\""')
  expect(searchFor("C:\\")).toBe('search:"C:\\\\"')
})
