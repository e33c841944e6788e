import { expect, test } from "vitest"
import { asked } from "./testing/made"
import { promptTexts } from "./written"

test("what was said about lines and the text after it are paragraphs when they are written again", () => {
  const lines = { type: "file-reference" as const, file_name: "a.py", start_line: 1, end_line: 1, content: "x" }
  const text = (said: string) => ({ type: "text" as const, text: said })
  const message = { ...asked(3, ""), content: [lines, text("Why?"), text("In short.")] }
  const prompts = [{ id: 3, text: "Why?In short." }, { id: 1, text: "as it is" }]
  expect(promptTexts(prompts, [message, asked(4, "newer")])).toEqual(["Why?\n\nIn short.", "as it is"])
})
