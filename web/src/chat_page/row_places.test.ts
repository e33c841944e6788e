import { expect, test } from "vitest"
import { allRows, nothingSent, timeline } from "../chat"
import { asked, call, message, picture, result, said, text } from "../chat/testing/made"
import { placeOfMessage, promptBeside } from "./row_places"

const shown = allRows(
  timeline(
    picture([
      asked(10),
      message(11, "assistant", text("look"), call("a")),
      message(12, "tool", result("a")),
      message(13, "assistant", text("done")),
      asked(20),
      said(21),
    ]),
    nothingSent,
  ),
)
const kinds = (place: number) => shown[place]?.kind

test("a message is found by any of its rows, and the first is taken", () => {
  expect(kinds(placeOfMessage(shown, 10))).toBe("user")
  expect(kinds(placeOfMessage(shown, 11))).toBe("text")
  expect(placeOfMessage(shown, 21)).toBeGreaterThan(placeOfMessage(shown, 20))
})

test("a result is where its call is shown", () => {
  expect(kinds(placeOfMessage(shown, 12))).toBe("steps")
})

test("a message that is newer than all is at the end", () => {
  expect(placeOfMessage(shown, 99)).toBe(shown.length - 1)
  expect(placeOfMessage([], 1)).toBe(-1)
})

test("one goes from prompt to prompt", () => {
  const [first, second] = [placeOfMessage(shown, 10), placeOfMessage(shown, 20)]
  expect(promptBeside(shown, shown.length, -1)).toBe(second)
  expect(promptBeside(shown, second, -1)).toBe(first)
  expect(promptBeside(shown, first, -1)).toBe(-1)
  expect(promptBeside(shown, first, 1)).toBe(second)
  expect(promptBeside(shown, second, 1)).toBe(-1)
})
