import { ArrowUp, ListChecks, Paperclip, Square } from "lucide-react"
import { type ClipboardEvent, type DragEvent, type KeyboardEvent, useEffect, useId, useRef, useState } from "react"
import { useStore } from "zustand"
import { sendWith, useKept } from "../../browser/kept"
import { type Draft, type DraftStore, isNothing, recall, writeText } from "../../chat"
import { Button } from "../../ui/buttons/Button"
import { IconButton } from "../../ui/buttons/IconButton"
import { classes } from "../../ui/classes"
import { words } from "../../words"
import { Attachments } from "./Attachments"
import { attach, attachPasted } from "./attaching"
import css from "./ComposerBox.module.css"
import { countHidden, withoutHidden } from "./hidden_characters"
import { ModelPicker } from "./ModelPicker"
import type { ModelChoice } from "./model_choice"
import { type Command, matching, optionId, SlashMenu } from "./SlashMenu"

export interface ComposerBoxProps {
  draft: DraftStore
  choice: ModelChoice
  isBusy: boolean
  isStopping: boolean
  /** Messages of one's own, the newest first. */
  prompts: readonly string[]
  commands: readonly Command[]
  onCommand: (name: string) => void
  onSend: () => void
  onStop?: (() => void) | undefined
  onCancelEdit?: (() => void) | undefined
  /** Whether the agent is only to plan. */
  plan?: Planning | undefined
  /** Enter in an empty composer: the first that waits. */
  onSendHead?: (() => void) | undefined
}

export interface Planning {
  isOn: boolean
  set: (isOn: boolean) => void
}

/** A paste that is longer is a file. */
const LONG_LINES = 10
const LONG_CHARACTERS = 1000

/** Enter that comes this soon again, in milliseconds, is not meant for what it finds then: what waits, or an older draft. */
const DOUBLE_PRESS = 500

const isTouch = typeof window !== "undefined" && window.matchMedia("(pointer: coarse)").matches

/** Where messages are written. It knows nothing of where they go. */
export function ComposerBox(props: ComposerBoxProps) {
  const { draft: store, choice, isBusy, isStopping, prompts, commands, onCommand, onSend, onStop, onCancelEdit, onSendHead, plan } = props
  const draft = useStore(store)
  const [mode] = useKept(sendWith)
  const [place, setPlace] = useState(0)
  /** What was typed when the commands were closed: they stay so until it is something else. */
  const [closed, setClosed] = useState<string | null>(null)
  const [isOver, setOver] = useState(false)
  const area = useRef<HTMLTextAreaElement>(null)
  const picked = useRef<HTMLInputElement>(null)
  const wantsPlain = useRef(false)
  /** When a key has sent something, by the clock of events, and what that has left. */
  const sent = useRef<{ at: number; left: Draft } | null>(null)
  const text = words.composer
  const heldId = useId()
  const commandsId = useId()
  const held = heldBy(draft) ?? (choice.isKnown && !choice.model ? text.noModelText : null)
  const canSend = !isNothing(draft) && held === null && (choice.model !== undefined || !choice.isKnown)
  const found = closed === draft.text ? [] : matching(draft.text, commands)
  const hiddenCount = countHidden(draft.text)

  useEffect(() => {
    if (!isTouch) area.current?.focus()
  }, [draft.editing?.messageId])

  function write(next: string) {
    setPlace(0)
    writeText(store, next)
  }

  function run(command: Command) {
    if (command.isDisabled) return
    if (command.isSkill) return writeText(store, `/${command.name} `)
    store.setState(({ recalled }) => ({ text: recalled?.hidden ?? "", recalled: null }))
    onCommand(command.name)
  }

  /** `pressed`: by a key. */
  function submit(pressed?: KeyboardEvent) {
    if (pressed && (pressed.repeat || (sent.current?.left === draft && pressed.timeStamp - sent.current.at < DOUBLE_PRESS))) return
    const exact = found.find((command) => !command.isSkill && draft.text.trim() === `/${command.name}`)
    if (exact) run(exact)
    else if (canSend) {
      onSend()
      if (pressed) sent.current = { at: pressed.timeStamp, left: store.getState() }
    } else if (isNothing(draft) && !draft.editing && pressed) onSendHead?.()
  }

  function pressed(event: KeyboardEvent<HTMLTextAreaElement>) {
    if (event.nativeEvent.isComposing) return
    wantsPlain.current = (event.ctrlKey || event.metaKey) && event.shiftKey && event.key.toLowerCase() === "v"
    if (found.length > 0 && event.key === "Escape") {
      event.preventDefault()
      setClosed(draft.text)
      return
    }
    if (found.length > 0 && ["ArrowUp", "ArrowDown", "Tab", "Enter"].includes(event.key)) {
      event.preventDefault()
      const chosen = found[place % found.length]
      if (event.key === "ArrowDown") setPlace((place + 1) % found.length)
      else if (event.key === "ArrowUp") setPlace((place + found.length - 1) % found.length)
      else if (chosen) run(chosen)
      return
    }
    if (event.key === "Enter" && sends(event, mode)) {
      event.preventDefault()
      submit(event)
    } else if (event.key === "Escape") {
      if (draft.editing) onCancelEdit?.()
      else if (isBusy && !isStopping) onStop?.()
    } else if ((event.key === "ArrowUp" || event.key === "ArrowDown") && !draft.editing && !event.altKey) {
      goBack(event)
    }
  }

  /** Earlier messages of one's own. Up only at the very beginning, down only at the very end: in between the arrows move the caret. */
  function goBack(event: KeyboardEvent<HTMLTextAreaElement>) {
    const { selectionStart, selectionEnd, value } = event.currentTarget
    const isUp = event.key === "ArrowUp"
    if (selectionStart !== selectionEnd || (isUp ? selectionStart !== 0 && value !== "" : selectionEnd !== value.length)) return
    const next = recall(store, prompts, isUp ? 1 : -1)
    if (next === null) return
    event.preventDefault()
    requestAnimationFrame(() => area.current?.setSelectionRange(isUp ? 0 : next.length, isUp ? 0 : next.length))
  }

  function pasted(event: ClipboardEvent) {
    const files = [...event.clipboardData.files]
    if (files.length > 0) {
      event.preventDefault()
      attach(store, files)
      return
    }
    const long = event.clipboardData.getData("text/plain")
    if (wantsPlain.current || (long.length < LONG_CHARACTERS && long.split("\n").length < LONG_LINES)) return
    event.preventDefault()
    attachPasted(store, long)
  }

  function dropped(event: DragEvent) {
    if (!event.dataTransfer.types.includes("Files")) return // text goes where it is dropped
    event.preventDefault()
    setOver(false)
    attach(store, event.dataTransfer.files)
  }

  return (
    <div
      className={classes(css["composer"], isOver && css["over"])}
      onDragOver={(event) => {
        if (!event.dataTransfer.types.includes("Files")) return
        event.preventDefault()
        setOver(true)
      }}
      onDragLeave={() => setOver(false)}
      onDrop={dropped}
    >
      {isOver && <p className={css["drop"]}>{text.drop}</p>}
      {draft.editing && (
        <p className={css["editing"]} role="status">
          {text.editing}
          <Button size="small" kind="quiet" onClick={onCancelEdit}>
            {text.cancelEdit}
          </Button>
        </p>
      )}
      <Attachments draft={draft} of={store} />
      <SlashMenu id={commandsId} commands={found} place={place} onRun={run} />
      <textarea
        ref={area}
        className={css["area"]}
        aria-label={text.label}
        placeholder={isBusy ? text.placeholderBusy : text.placeholder}
        value={draft.text}
        rows={1}
        aria-controls={found.length > 0 ? commandsId : undefined}
        aria-activedescendant={found.length > 0 ? optionId(commandsId, place % found.length) : undefined}
        enterKeyHint={isTouch ? "enter" : "send"}
        onChange={(event) => write(event.target.value)}
        onKeyDown={pressed}
        onPaste={pasted}
      />
      {hiddenCount > 0 && (
        <p className={css["hidden"]} role="status">
          {text.hidden(hiddenCount)}
          <Button size="small" kind="quiet" onClick={() => write(withoutHidden(draft.text))}>
            {text.removeHidden}
          </Button>
        </p>
      )}
      {held !== null && (
        <p id={heldId} className={css["held"]} role="status">
          {held}
        </p>
      )}
      <div className={css["bar"]}>
        <IconButton name={text.attach} icon={Paperclip} onClick={() => picked.current?.click()} />
        <input
          ref={picked}
          type="file"
          multiple
          hidden
          onChange={(event) => {
            attach(store, event.target.files ?? [])
            event.target.value = ""
          }}
        />
        <ModelPicker choice={choice} />
        {plan && <IconButton name={text.plan} icon={ListChecks} isPressed={plan.isOn} onClick={() => plan.set(!plan.isOn)} />}
        {plan?.isOn && <span className={css["planned"]}>{text.planHint}</span>}
        <span className={css["end"]}>
          {isBusy && onStop && (
            <Button size="small" icon={Square} onClick={onStop} disabled={isStopping} aria-keyshortcuts="Escape">
              {isStopping ? text.stopping : text.stop}
            </Button>
          )}
          {(!isBusy || !isNothing(draft)) && (
            <Button kind="primary" size="small" icon={ArrowUp} className={draft.editing ? undefined : css["send"]} onClick={() => submit()} disabled={!canSend} aria-describedby={held === null ? undefined : heldId}>
              {draft.editing ? text.saveEdit : isBusy ? text.queue : text.send}
            </Button>
          )}
        </span>
      </div>
    </div>
  )
}

/** Why it can't be sent yet: nothing that was attached is left out without a word. */
function heldBy({ files }: Draft): string | null {
  const failed = files.filter((file) => file.error !== null).length
  if (failed > 0) return words.composer.waitsForFailed(failed)
  return files.some((file) => file.progress !== null) ? words.composer.waitsForFiles : null
}

function sends(event: KeyboardEvent, mode: "enter" | "modifier"): boolean {
  if (event.ctrlKey || event.metaKey) return true
  return mode === "enter" && !event.shiftKey && !isTouch
}
