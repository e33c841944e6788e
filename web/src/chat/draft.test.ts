import { expect, test } from "vitest"
import type { ChatMessage } from "../api/schema"
import { keptText } from "../browser/kept"
import { asContent, beginEditing, draftOf, endEditing, fromContent, giveBack, recall, resumeEditing, writeText } from "./draft"

const message: ChatMessage = {
  id: 7,
  chat_id: "c",
  created_at: "2026-01-01T00:00:00Z",
  revision: 1,
  role: "user",
  content: [{ type: "text", text: "as it was" }],
}

test("what was refused comes back in front of what was written since", () => {
  const draft = draftOf("given-back")
  draft.setState({ text: "newer" })
  giveBack(draft, fromContent([{ type: "text", text: "refused" }]))
  expect(draft.getState().text).toBe("refused\n\nnewer")
})

test("what was refused is not mixed into an edit under way", () => {
  const draft = draftOf("given-back-while-editing")
  draft.setState({ text: "newer" })
  beginEditing(draft, message)
  giveBack(draft, fromContent([{ type: "text", text: "refused" }]))
  expect(draft.getState().text).toBe("as it was")
  endEditing(draft)
  expect(draft.getState().text).toBe("refused\n\nnewer")
})

test("an edit that was refused is an edit again, and keeps what was being written", () => {
  const draft = draftOf("resumed")
  draft.setState({ text: "half a message" })
  resumeEditing(draft, 7, fromContent([{ type: "text", text: "better" }]))
  expect(draft.getState()).toMatchObject({ text: "better", editing: { messageId: 7 } })
  endEditing(draft)
  expect(draft.getState()).toMatchObject({ text: "half a message", editing: null })
})

test("an edit that was refused does not take the words of another one", () => {
  const draft = draftOf("resumed-while-editing")
  draft.setState({ text: "half a message" })
  beginEditing(draft, { ...message, id: 8 })
  draft.setState({ text: "another edit" })
  resumeEditing(draft, 7, fromContent([{ type: "text", text: "better" }]))
  expect(draft.getState()).toMatchObject({ text: "better", editing: { messageId: 7 } })
  endEditing(draft)
  expect(draft.getState().text).toBe("another edit\n\nhalf a message")
})

test("an edit that was refused goes in front of one of the same message", () => {
  const draft = draftOf("resumed-twice")
  beginEditing(draft, message)
  resumeEditing(draft, 7, fromContent([{ type: "text", text: "better" }]))
  expect(draft.getState()).toMatchObject({ text: "better\n\nas it was", editing: { messageId: 7 } })
})

test("an earlier message hides what was being written, which comes back", () => {
  const draft = draftOf("recalled")
  draft.setState({ text: "half a message" })
  expect(recall(draft, ["newest", "oldest"], -1)).toBeNull()
  expect(recall(draft, ["newest", "oldest"], 1)).toBe("newest")
  expect(recall(draft, ["newest", "oldest"], 1)).toBe("oldest")
  expect(recall(draft, ["newest", "oldest"], 1)).toBeNull()
  expect(draft.getState().text).toBe("oldest")
  expect(recall(draft, ["newest", "oldest"], -1)).toBe("newest")
  expect(recall(draft, ["newest", "oldest"], -1)).toBe("half a message")
  expect(draft.getState().recalled).toBeNull()
})

test("what an earlier message hides is what is kept, edited and given back to", () => {
  const draft = draftOf("recalled-and-edited")
  draft.setState({ text: "half a message" })
  recall(draft, ["earlier"], 1)
  expect(keptText("draft", "recalled-and-edited").get()).toContain("half a message")
  expect(keptText("draft", "recalled-and-edited").get()).not.toContain("earlier")
  beginEditing(draft, message)
  endEditing(draft)
  expect(draft.getState().text).toBe("half a message")
  recall(draft, ["earlier"], 1)
  giveBack(draft, fromContent([{ type: "text", text: "refused" }]))
  expect(draft.getState().text).toBe("refused\n\nhalf a message")
})

test("what an earlier message hides outlasts that it is changed", () => {
  const draft = draftOf("recalled-and-changed")
  draft.setState({ text: "half a message" })
  recall(draft, ["earlier"], 1)
  writeText(draft, "earlier, changed")
  expect(draft.getState().recalled?.hidden).toBe("half a message")
  expect(recall(draft, ["earlier"], -1)).toBeNull()
  expect(JSON.parse(keptText("draft", "recalled-and-changed").get())).toMatchObject({ text: "earlier, changed\n\nhalf a message" })
  expect(recall(draft, ["earlier"], 1)).toBe("earlier")
  expect(recall(draft, ["earlier"], -1)).toBe("earlier, changed\n\nhalf a message")
})

test("an earlier message that hides nothing is one's own when it is changed", () => {
  const draft = draftOf("recalled-over-nothing")
  recall(draft, ["earlier"], 1)
  writeText(draft, "earlier, changed")
  expect(draft.getState()).toMatchObject({ text: "earlier, changed", recalled: null })
})

test("an edit leaves what was being written as it was", () => {
  const draft = draftOf("edited")
  draft.setState({ text: "half a message" })
  beginEditing(draft, message)
  beginEditing(draft, { ...message, id: 8 })
  expect(draft.getState()).toMatchObject({ text: "as it was", editing: { messageId: 8 } })
  endEditing(draft)
  expect(draft.getState().text).toBe("half a message")
})

test("only files that have arrived are sent, and blank text is not", () => {
  const file = { key: "k", name: "a.txt", mediaType: "text/plain", bytes: 1, progress: null, error: null }
  const files = [
    { ...file, id: "f1" },
    { ...file, key: "l", id: null, error: "too large" },
  ]
  expect(asContent({ text: " \n", files, references: [] })).toEqual([{ type: "file", file_id: "f1" }])
})

test("what is said about lines goes beside them, and comes back so", () => {
  const lines = (line: number, comment?: string) => ({ type: "file-reference" as const, file_name: "a.py", start_line: line, end_line: line, content: "x", comment })
  const written = { text: "And in all?", files: [], references: [lines(1, "first"), lines(2), lines(3, "second")] }
  const content = asContent(written)
  expect(content.map((part) => (part.type === "text" ? part.text : part.start_line))).toEqual([2, 1, "first", 3, "second", "And in all?"])
  expect(content.every((part) => !("comment" in part))).toBe(true)
  expect(fromContent(content)).toMatchObject({ text: "And in all?", references: [{ start_line: 2 }, { start_line: 1, comment: "first" }, { start_line: 3, comment: "second" }] })
  expect(asContent(fromContent(content))).toEqual(content)
})

test("one text after lines is the message", () => {
  const lines = { type: "file-reference" as const, file_name: "a.py", start_line: 1, end_line: 1, content: "x" }
  expect(fromContent([lines, { type: "text", text: "why?" }])).toMatchObject({ text: "why?", references: [{ start_line: 1 }] })
  expect(fromContent([lines, { type: "text", text: "why?" }, lines])).toMatchObject({ text: "", references: [{ comment: "why?" }, { start_line: 1 }] })
})
