import { ArrowDown, ArrowUp, CornerDownLeft, Pencil, Trash2 } from "lucide-react"
import { useEffect, useState } from "react"
import type { ChatQueuedMessage } from "../../api/schema"
import { serverNow } from "../../api/server_clock"
import { asContent, draftOf, fromContent, giveBack, nothingWritten, type OpenedChat, type Overlay, type Picture, type ShownQueued, shownQueue } from "../../chat"
import { Button } from "../../ui/buttons/Button"
import { IconButton } from "../../ui/buttons/IconButton"
import { classes } from "../../ui/classes"
import { toast } from "../../ui/floating/toast"
import { Field } from "../../ui/inputs/Field"
import { TextArea } from "../../ui/inputs/TextArea"
import { words } from "../../words"
import css from "./Queue.module.css"
import { useQueueEdit } from "./queue_edit"

/** A hold lasts two minutes at the server; it is renewed well before. */
const RENEW = 60_000

export interface QueueProps {
  opened: OpenedChat
  picture: Picture
  overlay: Overlay
  /** Until the chat was read, nobody knows what waits. */
  isRead: boolean
}

/** Messages that wait for the turn to end, in their order. */
export function Queue({ opened, picture, overlay, isRead }: QueueProps) {
  const [edit, setEdit] = useQueueEdit(opened.chatId)
  const [dragged, setDragged] = useState<number | null>(null)
  const waiting = shownQueue(overlay, picture)
  const ids = waiting.flatMap(({ message }) => (message ? [message.id] : []))
  const isGone = isRead && edit !== null && !picture.queue.some((message) => message.id === edit.id)
  useEffect(() => {
    if (!isGone || edit === null) return
    setEdit(null)
    if (edit.text === edit.before) return
    giveBack(draftOf(opened.chatId), { ...nothingWritten, text: edit.text })
    toast(words.queue.gone, { text: words.queue.goneText, id: "queue-edit" })
  })
  if (waiting.length === 0) return null

  /** To the place of another one; those between make room. */
  const moveTo = (id: number, place: number) => {
    if (place >= 0 && place < ids.length && ids[place] !== id) attempt(opened.actions.reorder(ids.filter((one) => one !== id).toSpliced(place, 0, id)))
  }
  return (
    <section className={css["queue"]} aria-label={words.queue.title}>
      <ol>
        {waiting.map((one) =>
          one.message && edit && one.message.id === edit.id ? (
            <EditedRow
              key={one.key}
              message={one.message}
              text={edit.text}
              onChange={(text) => setEdit({ ...edit, text })}
              opened={opened}
              onDone={() => setEdit(null)}
            />
          ) : (
            <QueuedRow
              key={one.key}
              of={one}
              isFirst={ids[0] === one.message?.id}
              isLast={ids.at(-1) === one.message?.id}
              onMove={(id, by) => moveTo(id, ids.indexOf(id) + by)}
              onEdit={(message) =>
                attempt(
                  opened.actions.hold(message.id).then(() => {
                    const { text } = fromContent(message.content)
                    setEdit({ id: message.id, before: text, text })
                  }),
                )
              }
              isDragged={dragged !== null && dragged === one.message?.id}
              onDrag={setDragged}
              onDropped={(id) => dragged !== null && moveTo(dragged, ids.indexOf(id))}
              opened={opened}
            />
          ),
        )}
      </ol>
    </section>
  )
}

interface RowProps {
  of: ShownQueued
  isFirst: boolean
  isLast: boolean
  onMove: (id: number, by: number) => void
  onEdit: (message: ChatQueuedMessage) => void
  isDragged: boolean
  onDrag: (id: number | null) => void
  /** Another one was let go over it. */
  onDropped: (id: number) => void
  opened: OpenedChat
}

function QueuedRow({ of, isFirst, isLast, onMove, onEdit, isDragged, onDrag, onDropped, opened }: RowProps) {
  const { message, send, operation } = of
  const text = words.queue
  const written = fromContent(message?.content ?? send?.content ?? [])
  const label = written.text || written.references[0]?.file_name || written.files[0]?.name || ""
  const isHeld = message ? isHeldNow(message) : false
  return (
    <li
      className={classes(css["row"], isDragged && css["dragged"])}
      aria-busy={operation !== null || undefined}
      draggable={message !== null}
      onDragStart={(event) => {
        event.dataTransfer.effectAllowed = "move"
        onDrag(message?.id ?? null)
      }}
      onDragEnd={() => onDrag(null)}
      onDragOver={(event) => {
        if (!event.dataTransfer.types.includes("Files")) event.preventDefault()
      }}
      onDrop={(event) => {
        event.preventDefault()
        if (message) onDropped(message.id)
      }}
    >
      <span className={css["text"]}>{label}</span>
      {written.text !== "" && written.files.length > 0 && <span className={css["state"]}>{words.cards.files(written.files.length)}</span>}
      {!message && <span className={css["state"]}>{text.sending}</span>}
      {isHeld && <span className={css["state"]}>{text.held}</span>}
      {message && (
        <span className={css["actions"]}>
          <IconButton name={text.sendNow} icon={CornerDownLeft} size="small" onClick={() => attempt(opened.actions.promote(message.id))} />
          <IconButton name={text.edit} icon={Pencil} size="small" onClick={() => onEdit(message)} />
          <IconButton name={text.moveUp} icon={ArrowUp} size="small" disabled={isFirst} onClick={() => onMove(message.id, -1)} />
          <IconButton name={text.moveDown} icon={ArrowDown} size="small" disabled={isLast} onClick={() => onMove(message.id, 1)} />
          <IconButton name={text.remove} icon={Trash2} size="small" onClick={() => attempt(opened.actions.deleteQueued(message.id))} />
        </span>
      )}
    </li>
  )
}

interface EditedRowProps {
  message: ChatQueuedMessage
  text: string
  onChange: (text: string) => void
  opened: OpenedChat
  onDone: () => void
}

/** Held at the server while it is edited, so that it is not sent half changed. Leaving the page ends the hold by itself. */
function EditedRow({ message, text, onChange, opened, onDone }: EditedRowProps) {
  const [before] = useState(() => fromContent(message.content))
  const [wasHeld] = useState(() => isHeldNow(message))
  useEffect(() => {
    const hold = () => void opened.actions.hold(message.id).catch(() => undefined)
    if (!wasHeld) hold()
    const timer = setInterval(hold, RENEW)
    return () => clearInterval(timer)
  }, [opened, message.id, wasHeld])
  const save = () => attempt(opened.actions.release(message.id, asContent({ ...before, text })).then(onDone))
  const cancel = () => attempt(opened.actions.release(message.id).then(onDone))
  return (
    <li className={css["edited"]}>
      <Field label={words.queue.edit} isLabelHidden>
        <TextArea
          value={text}
          onChange={onChange}
          minRows={1}
          autoFocus
          onKeyDown={(event) => {
            if (event.key === "Escape") cancel()
            if (event.key === "Enter" && !event.shiftKey && !event.nativeEvent.isComposing && text.trim()) {
              event.preventDefault()
              save()
            }
          }}
        />
      </Field>
      <div className={css["buttons"]}>
        <Button size="small" kind="quiet" onClick={cancel}>
          {words.common.cancel}
        </Button>
        <Button size="small" kind="primary" onClick={save} disabled={!text.trim()}>
          {words.queue.save}
        </Button>
      </div>
    </li>
  )
}

function isHeldNow({ held_until }: ChatQueuedMessage): boolean {
  return held_until ? Date.parse(held_until) > serverNow() : false
}

function attempt(doing: Promise<unknown>): void {
  void doing.catch((error: Error) => toast(words.queue.failed, { text: error.message, kind: "error" }))
}
