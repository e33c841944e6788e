import { expect, it } from "vitest"
import { nameIn } from "./save_file"

it.each([
  ["attachment; filename=\"chat.md\"; filename*=UTF-8''Gr%C3%BC%C3%9Fe.md", "Grüße.md"],
  ['attachment; filename="a chat.md"', "a chat.md"],
  ["attachment", ""],
])("the name in %s", (disposition, name) => expect(nameIn(disposition)).toBe(name))
