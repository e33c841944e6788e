/** What a person writes: as it is sent, as it is stored, and as it goes back into a composer. */
import type { Part } from "../api/events"
import type { ChatMessage, ChatPrompt, InputPart } from "../api/schema"

/** Whether stored parts say what was sent. */
export function isSameContent(stored: readonly Part[], sent: readonly InputPart[]): boolean {
  const back = asInput(stored)
  return back.length === sent.length && back.every((part, place) => isSamePart(part, sent[place]))
}

function isSamePart(one: InputPart, other: InputPart | undefined): boolean {
  if (one.type !== other?.type) return false
  if (one.type === "text") return one.text?.trim() === other.text?.trim()
  if (one.type === "file") return one.file_id === other.file_id
  return one.file_name === other.file_name && one.start_line === other.start_line && one.end_line === other.end_line
}

/** The parts of a message as they would be sent again: for an edit. */
export function asInput(stored: readonly Part[]): InputPart[] {
  return stored.flatMap((part): InputPart[] => {
    if (part.type === "text") return [{ type: "text", text: part.text }]
    if (part.type === "file" && part.file_id) return [{ type: "file", file_id: part.file_id }]
    if (part.type !== "file-reference") return []
    const { file_name, start_line, end_line, content } = part
    return [{ type: "file-reference", file_name, start_line, end_line, content }]
  })
}

/** Earlier messages, to be written again. The server puts nothing between the texts of one; of those that are known here they are paragraphs. */
export function promptTexts(prompts: readonly ChatPrompt[], messages: readonly ChatMessage[]): string[] {
  const known = new Map(messages.map((message) => [message.id, message]))
  return prompts.map(({ id, text }) => {
    const texts = known.get(id)?.content.flatMap((part) => (part.type === "text" ? [part.text] : [])) ?? []
    return texts.length > 1 ? texts.join("\n\n") : text
  })
}
