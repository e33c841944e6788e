import { ArrowDown, ArrowUp, Search, X } from "lucide-react"
import { type KeyboardEvent, type RefObject, useEffect, useLayoutEffect, useMemo, useRef, useState } from "react"
import { useStore } from "zustand"
import type { OpenedChat } from "../../chat"
import { IconButton } from "../../ui/buttons/IconButton"
import { TextInput } from "../../ui/inputs/TextInput"
import { words } from "../../words"
import type { TimelineHandle } from "../Timeline"
import css from "./FindBar.module.css"
import { closeFind, finding } from "./finding"
import { keepMarked, rangeOf } from "./marks"
import { type Found, type Hit, useFound } from "./use_found"

export interface FindBarProps {
  opened: OpenedChat
  /** The newest message, which also an edit changes: it looks again then. */
  newest: number
  timeline: RefObject<TimelineHandle | null>
}

/** Looks for a text in all of a chat. The newest hit is the first, and the next is further up. */
export function FindBar({ opened, newest, timeline }: FindBarProps) {
  const [typed, setTyped] = useState("")
  const [chosen, setChosen] = useState<Hit | null>(null)
  const asked = useStore(finding, (state) => state.asked)
  const input = useRef<HTMLInputElement>(null)
  const found = useFound(opened.chatId, typed.trim(), newest)
  const place = placeOf(found, chosen)
  const now = found.hits[place] ?? null
  useReturnedFocus()

  // Before the next key, not after the next picture.
  useLayoutEffect(() => {
    input.current?.focus()
    input.current?.select()
  }, [asked])

  const log = timeline.current?.log() ?? null
  // The same hit is another object after each answer of the server.
  const hit = useMemo(() => now && { messageId: now.messageId, nth: now.nth }, [now?.messageId, now?.nth])
  useEffect(() => (log && found.words !== "" ? keepMarked(log, found.words, hit) : undefined), [log, found.words, hit])

  const goal = useRef<Hit | null>(null)
  const go = async (to: Hit | undefined) => {
    if (!to) return
    setChosen(to)
    goal.current = to
    const at = timeline.current
    const element = await at?.show(to.messageId)
    if (goal.current !== to) return // another one was wanted before this one had come
    const log = at?.log()
    const range = element && log && rangeOf(log, found.words, to)
    if (range) at?.centre(range.getBoundingClientRect())
  }
  const step = (by: 1 | -1) => void go(found.hits[(place + by + found.hits.length) % found.hits.length])

  // The first hit of each question is shown at once.
  const shown = useRef("")
  useEffect(() => {
    if (found.words === shown.current) return
    shown.current = found.words
    void go(found.hits[0])
  })

  function pressed(event: KeyboardEvent) {
    if (event.nativeEvent.isComposing) return
    // On a button, Enter presses that.
    const isStep = event.key === "F3" || (event.key === "Enter" && event.target === input.current)
    if (event.key === "Escape") closeFind()
    else if (!isStep) return
    else if (found.hits.length > 0) step(event.shiftKey ? -1 : 1)
    event.preventDefault()
    event.stopPropagation()
  }

  const text = words.chat.find
  const isNone = found.hits.length === 0
  return (
    <div role="search" aria-label={text.title} className={css["bar"]} onKeyDown={pressed}>
      <div className={css["input"]}>
        <TextInput ref={input} icon={Search} value={typed} onChange={setTyped} aria-label={text.title} placeholder={text.title} maxLength={200} />
      </div>
      <span role="status" className={css["count"]}>
        {found.error ? found.error.message : found.words === "" ? "" : isNone ? text.none : text.count(place + 1, found.hits.length, found.isCut)}
      </span>
      <IconButton name={text.next} icon={ArrowUp} shortcut="Enter" disabled={isNone} onClick={() => step(1)} />
      <IconButton name={text.previous} icon={ArrowDown} shortcut="Shift+Enter" disabled={isNone} onClick={() => step(-1)} />
      <IconButton name={text.close} icon={X} shortcut="Escape" onClick={closeFind} />
    </div>
  )
}

function placeOf({ hits }: Found, chosen: Hit | null): number {
  return Math.max(0, chosen ? hits.findIndex((hit) => hit.messageId === chosen.messageId && hit.nth === chosen.nth) : 0)
}

/** The focus goes back to where it was before. */
function useReturnedFocus(): void {
  const [before] = useState(() => document.activeElement)
  useEffect(
    () => () => {
      if (before instanceof HTMLElement && before.isConnected) before.focus()
    },
    [before],
  )
}
