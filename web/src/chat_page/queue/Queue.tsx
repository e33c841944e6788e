import { ArrowDown, ArrowUp, CornerDownLeft, Pencil, Trash2 } from "lucide-react"
import { useEffect, useLayoutEffect, useRef, useState } from "react"
import type { ChatQueuedMessage, InputPart } from "../../api/schema"
import { serverNow } from "../../api/server_clock"
import { asContent, draftOf, fromContent, giveBack, nothingWritten, type OpenedChat, type Overlay, type SettledPicture, type ShownQueued, shownQueue } from "../../chat"
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
  picture: SettledPicture
  overlay: Overlay
  /** Until the chat was read, nobody knows what waits. */
  isRead: boolean
}

/** Messages that wait for the turn to end, in their order. */
export function Queue({ opened, picture, overlay, isRead }: QueueProps) {
  const [edit, setEdit] = useQueueEdit(opened.chatId)
  const [dragged, setDragged] = useState<number | null>(null)
  // While it is let go: the stream may tell that it was sent before the answer tells that its words were saved.
  const [isEnding, setEnding] = useState(false)
  const waiting = shownQueue(overlay, picture)
  const ids = waiting.flatMap(({ message }) => (message ? [message.id] : []))
  const [list, keepFocusOn] = useFocusKept(ids.join())
  const isGone = isRead && edit !== null && !picture.queue.some((message) => message.id === edit.id)
  useEffect(() => {
    // Another tab may be about to say that it has saved it: only where one looks words are given back, and else they are kept.
    if (!isGone || edit === null || isEnding || document.visibilityState !== "visible") return
    setEdit(null)
    if (edit.text === edit.before) return
    giveBack(draftOf(opened.chatId), { ...nothingWritten, text: edit.text })
    toast(words.queue.gone, { text: words.queue.goneText, id: "queue-edit" })
  })
  if (waiting.length === 0) return null

  /** Lets go of the one that is edited, with other words or as it was. */
  const end = (content?: readonly InputPart[]) => {
    if (edit === null || isEnding) return
    setEnding(true)
    attempt(
      opened.actions
        .release(edit.id, content)
        .then(() => setEdit(null))
        .finally(() => setEnding(false)),
    )
  }
  /** To the place of another one; those between make room. */
  const moveTo = (id: number, place: number) => {
    if (place >= 0 && place < ids.length && ids[place] !== id) attempt(opened.actions.reorder(ids.filter((one) => one !== id).toSpliced(place, 0, id)))
  }
  return (
    <section className={css["queue"]} aria-label={words.queue.title}>
      <ol ref={list}>
        {waiting.map((one) =>
          one.message && edit && one.message.id === edit.id ? (
            <EditedRow
              key={one.key}
              message={one.message}
              text={edit.text}
              onChange={(text) => setEdit({ ...edit, text })}
              opened={opened}
              onEnd={end}
            />
          ) : (
            <QueuedRow
              key={one.key}
              of={one}
              isFirst={ids[0] === one.message?.id}
              isLast={ids.at(-1) === one.message?.id}
              onMove={(id, by) => {
                keepFocusOn(id, by)
                moveTo(id, ids.indexOf(id) + by)
              }}
              isEditable={edit === null}
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

/** A row that changes its place loses the focus, and at either end also the button that moved it: its other one has it then. */
function useFocusKept(order: string) {
  const list = useRef<HTMLOListElement>(null)
  const moved = useRef<{ id: number; by: number } | null>(null)
  useLayoutEffect(() => {
    if (!moved.current) return
    const { id, by } = moved.current
    moved.current = null
    const buttons = [by, -by].map((way) => list.current?.querySelector<HTMLButtonElement>(`[data-queued="${id}"] [data-by="${way}"]`))
    buttons.find((button) => button && !button.disabled)?.focus()
  }, [order])
  const keep = (id: number, by: number) => {
    moved.current = { id, by }
  }
  return [list, keep] as const
}

interface RowProps {
  of: ShownQueued
  isFirst: boolean
  isLast: boolean
  onMove: (id: number, by: number) => void
  /** One at a time: the words of another one would be lost. */
  isEditable: boolean
  onEdit: (message: ChatQueuedMessage) => void
  isDragged: boolean
  onDrag: (id: number | null) => void
  /** Another one was let go over it. */
  onDropped: (id: number) => void
  opened: OpenedChat
}

function QueuedRow({ of, isFirst, isLast, onMove, isEditable, onEdit, isDragged, onDrag, onDropped, opened }: RowProps) {
  const { message, send, operation } = of
  const text = words.queue
  const written = fromContent(message?.content ?? send?.content ?? [])
  const label = written.text || written.references.find(({ comment }) => comment)?.comment || written.references[0]?.file_name || written.files[0]?.name || ""
  const isHeld = message ? isHeldNow(message) : false
  return (
    <li
      className={classes(css["row"], isDragged && css["dragged"])}
      aria-busy={operation !== null || undefined}
      data-queued={message?.id}
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
          <IconButton name={text.edit} icon={Pencil} size="small" disabled={!isEditable} onClick={() => onEdit(message)} />
          <IconButton data-by={-1} name={text.moveUp} icon={ArrowUp} size="small" disabled={isFirst} onClick={() => onMove(message.id, -1)} />
          <IconButton data-by={1} name={text.moveDown} icon={ArrowDown} size="small" disabled={isLast} onClick={() => onMove(message.id, 1)} />
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
  /** Without content, it stays as it was. */
  onEnd: (content?: readonly InputPart[]) => void
}

/** Held at the server while it is edited, so that it is not sent half changed. Leaving the page ends the hold by itself. */
function EditedRow({ message, text, onChange, opened, onEnd }: EditedRowProps) {
  const [before] = useState(() => fromContent(message.content))
  const [wasHeld] = useState(() => isHeldNow(message))
  useEffect(() => {
    const hold = () => void opened.actions.hold(message.id).catch(() => undefined)
    if (!wasHeld) hold()
    const timer = setInterval(hold, RENEW)
    return () => clearInterval(timer)
  }, [opened, message.id, wasHeld])
  const save = () => onEnd(asContent({ ...before, text }))
  const cancel = () => onEnd()
  return (
    <li className={css["edited"]}>
      <Field label={words.queue.edit} isLabelHidden>
        <TextArea
          value={text}
          onChange={onChange}
          minRows={1}
          autoFocus
          onKeyDown={(event) => {
            if (event.nativeEvent.isComposing) return
            if (event.key === "Escape") cancel()
            if (event.key === "Enter" && !event.shiftKey && text.trim()) {
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
