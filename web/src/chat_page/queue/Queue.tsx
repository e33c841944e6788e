import { ArrowDown, ArrowUp, CornerDownLeft, Pencil, Trash2 } from "lucide-react"
import { useEffect, useState } from "react"
import type { ChatQueuedMessage } from "../../api/schema"
import { serverNow } from "../../api/server_clock"
import { asContent, fromContent, type OpenedChat, type Overlay, type Picture, type ShownQueued, shownQueue } from "../../chat"
import { Button } from "../../ui/buttons/Button"
import { IconButton } from "../../ui/buttons/IconButton"
import { toast } from "../../ui/floating/toast"
import { Field } from "../../ui/inputs/Field"
import { TextArea } from "../../ui/inputs/TextArea"
import { words } from "../../words"
import css from "./Queue.module.css"

/** A hold lasts two minutes at the server; it is renewed well before. */
const RENEW = 60_000

/** Messages that wait for the turn to end, in their order. */
export function Queue({ opened, picture, overlay }: { opened: OpenedChat; picture: Picture; overlay: Overlay }) {
  const [edited, setEdited] = useState<number | null>(null)
  const waiting = shownQueue(overlay, picture)
  const ids = waiting.flatMap(({ message }) => (message ? [message.id] : []))
  if (waiting.length === 0) return null

  const move = (id: number, by: number) => {
    const place = ids.indexOf(id)
    const next = ids.with(place, ids[place + by] ?? id).with(place + by, id)
    attempt(opened.actions.reorder(next))
  }
  return (
    <section className={css["queue"]} aria-label={words.queue.title}>
      <ol>
        {waiting.map((one) =>
          one.message && one.message.id === edited ? (
            <EditedRow key={one.key} message={one.message} opened={opened} onDone={() => setEdited(null)} />
          ) : (
            <QueuedRow
              key={one.key}
              of={one}
              isFirst={ids[0] === one.message?.id}
              isLast={ids.at(-1) === one.message?.id}
              onMove={move}
              onEdit={(id) => attempt(opened.actions.hold(id).then(() => setEdited(id)))}
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
  onEdit: (id: number) => void
  opened: OpenedChat
}

function QueuedRow({ of, isFirst, isLast, onMove, onEdit, opened }: RowProps) {
  const { message, send, operation } = of
  const text = words.queue
  const written = fromContent(message?.content ?? send?.content ?? [])
  const label = written.text || written.references[0]?.file_name || written.files[0]?.name || ""
  const isHeld = message?.held_until ? Date.parse(message.held_until) > serverNow() : false
  return (
    <li className={css["row"]} aria-busy={operation !== null || undefined}>
      <span className={css["text"]}>{label}</span>
      {!message && <span className={css["state"]}>{text.sending}</span>}
      {isHeld && <span className={css["state"]}>{text.held}</span>}
      {message && (
        <span className={css["actions"]}>
          <IconButton name={text.sendNow} icon={CornerDownLeft} size="small" onClick={() => attempt(opened.actions.promote(message.id))} />
          <IconButton name={text.edit} icon={Pencil} size="small" onClick={() => onEdit(message.id)} />
          <IconButton name={text.moveUp} icon={ArrowUp} size="small" disabled={isFirst} onClick={() => onMove(message.id, -1)} />
          <IconButton name={text.moveDown} icon={ArrowDown} size="small" disabled={isLast} onClick={() => onMove(message.id, 1)} />
          <IconButton name={text.remove} icon={Trash2} size="small" onClick={() => attempt(opened.actions.deleteQueued(message.id))} />
        </span>
      )}
    </li>
  )
}

/** Held at the server while it is edited, so that it is not sent half changed. Leaving the page ends the hold by itself. */
function EditedRow({ message, opened, onDone }: { message: ChatQueuedMessage; opened: OpenedChat; onDone: () => void }) {
  const [before] = useState(() => fromContent(message.content))
  const [text, setText] = useState(before.text)
  useEffect(() => {
    const timer = setInterval(() => void opened.actions.hold(message.id).catch(() => undefined), RENEW)
    return () => clearInterval(timer)
  }, [opened, message.id])
  const save = () => attempt(opened.actions.release(message.id, asContent({ ...before, text })).then(onDone))
  const cancel = () => attempt(opened.actions.release(message.id).then(onDone))
  return (
    <li className={css["edited"]}>
      <Field label={words.queue.edit} isLabelHidden>
        <TextArea
          value={text}
          onChange={setText}
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

function attempt(doing: Promise<unknown>): void {
  void doing.catch((error: Error) => toast(words.queue.failed, { text: error.message, kind: "error" }))
}
