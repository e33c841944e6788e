/** The rows of a picture, with what is being sent laid over them. */
import type { InputPart } from "../api/schema"
import type { Picture } from "./picture"
import type { Row } from "./row_kinds"
import { type InTwo, rows } from "./rows"
import { type Edit, goesToQueue, type Overlay, type Send, shownEdit, shownSends } from "./sending"

/** A message that is on its way or was refused, and says so. */
export interface SendRow {
  readonly kind: "send"
  readonly key: string
  readonly content: readonly InputPart[]
  readonly of: Send | Edit
}

export type TimelineRow = Row | SendRow

export type Timeline = InTwo<TimelineRow>

export function timeline(picture: Picture, overlay: Overlay): Timeline {
  const shown = rows(picture)
  const edit = shownEdit(overlay, picture)
  const sends = shownSends(overlay, picture).filter((send) => !goesToQueue(send, picture))
  const under = edit ? replaced(shown, edit) : shown
  return sends.length === 0 ? under : { settled: under.settled, tail: [...under.tail, ...sends.map(sendRow)] }
}

/** An edit takes the place of its message and of all that follows. */
function replaced({ settled, tail }: Timeline, edit: Edit): Timeline {
  const isEdited = (row: TimelineRow) => row.kind === "user" && row.message.id === edit.messageId
  const place = settled.findIndex(isEdited)
  if (place >= 0) return { settled: settled.slice(0, place), tail: [sendRow(edit)] }
  const inTail = tail.findIndex(isEdited)
  return { settled, tail: [...tail.slice(0, inTail < 0 ? tail.length : inTail), sendRow(edit)] }
}

const made = new WeakMap<Send | Edit, SendRow>()

/** The key is that of the message as soon as its id is known. */
function sendRow(of: Send | Edit): SendRow {
  const known = made.get(of)
  if (known) return known
  const own = "messageId" in of ? `edit${of.messageId}` : `s${of.key}`
  const row: SendRow = { kind: "send", key: of.message ? `m${of.message.id}` : own, content: of.content, of }
  made.set(of, row)
  return row
}
