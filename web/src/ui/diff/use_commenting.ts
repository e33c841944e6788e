import { type KeyboardEvent, type PointerEvent, useEffect, useRef, useState } from "react"
import { type Chosen, type Commented, commentedIn, extended, nextLine, sideOf } from "./commented"
import { type DiffRow, lineAt, type Side } from "./rows"

export interface Commenting {
  chosen: Chosen | null
  /** Set while a comment is being written; it is shown below row `below`. */
  about: Commented | null
  below: number | null
  /** The one line number that Tab reaches; arrows go on from there. */
  current: { row: number; side: Side } | null
  press: (event: PointerEvent, row: number, side: Side) => void
  enter: (row: number, side: Side) => void
  key: (event: KeyboardEvent, row: number, side: Side) => void
  click: (row: number, side: Side, isExtending: boolean) => void
  done: () => void
}

interface Options {
  rows: readonly DiffRow[]
  /** Brings a row into sight and puts the focus on its number. */
  focus: (row: number, side: Side) => void
}

/** Choosing lines: a click, a drag or shift with the pointer; arrows, shift and Enter with the keyboard. */
export function useCommenting({ rows, focus }: Options): Commenting {
  const [chosen, setChosen] = useState<Chosen | null>(null)
  const [isWriting, setIsWriting] = useState(false)
  const [at, setAt] = useState<{ row: number; side: Side } | null>(null)
  const isDragging = useRef(false)

  useEffect(() => {
    const drop = () => {
      if (isDragging.current) setIsWriting(true)
      isDragging.current = false
    }
    window.addEventListener("pointerup", drop)
    return () => window.removeEventListener("pointerup", drop)
  }, [])

  const current = at && lineAt(rows[at.row], at.side) ? at : firstPlace(rows)

  function begin(row: number, side: Side, isExtending: boolean): void {
    setAt({ row, side })
    setChosen(isExtending && chosen ? extended(rows, chosen, row) : { side: sideOf(rows[row], side), from: row, to: row })
  }

  function key(event: KeyboardEvent, row: number, side: Side): void {
    if (event.key === "Escape" && chosen) {
      event.stopPropagation()
      setChosen(null)
      setIsWriting(false)
      return
    }
    const next = nextPlace(rows, event.key, row, side)
    if (!next) return
    event.preventDefault()
    setAt(next)
    focus(next.row, next.side)
    if (event.shiftKey) setChosen(extended(rows, chosen ?? { side: sideOf(rows[row], side), from: row, to: row }, next.row))
    else if (!isWriting) setChosen(null)
  }

  return {
    chosen,
    about: isWriting && chosen ? commentedIn(rows, chosen) : null,
    below: isWriting && chosen ? Math.max(chosen.from, chosen.to) : null,
    current,
    press: (event, row, side) => {
      if (event.button !== 0 || event.pointerType === "touch") return
      isDragging.current = true
      setIsWriting(false)
      begin(row, side, event.shiftKey)
    },
    enter: (row, side) => {
      if (isDragging.current && chosen && (rows[row]?.kind === "line" || side === chosen.side)) setChosen(extended(rows, chosen, row))
    },
    key,
    click: (row, side, isExtending) => {
      const isWithin = chosen !== null && row >= Math.min(chosen.from, chosen.to) && row <= Math.max(chosen.from, chosen.to)
      if (!isWithin) begin(row, side, isExtending)
      setIsWriting(true)
    },
    done: () => {
      setIsWriting(false)
      setChosen(null)
      if (at) focus(at.row, at.side)
    },
  }
}

function firstPlace(rows: readonly DiffRow[]): { row: number; side: Side } | null {
  const row = rows.findIndex((one) => lineAt(one, "new") ?? lineAt(one, "old"))
  return row === -1 ? null : { row, side: sideOf(rows[row], lineAt(rows[row], "new") ? "new" : "old") }
}

function nextPlace(rows: readonly DiffRow[], pressed: string, row: number, side: Side): { row: number; side: Side } | null {
  if (pressed === "ArrowDown" || pressed === "ArrowUp") {
    const next = nextLine(rows, row, pressed === "ArrowDown" ? 1 : -1, side)
    return next === null ? null : { row: next, side }
  }
  const other = pressed === "ArrowLeft" ? "old" : pressed === "ArrowRight" ? "new" : null
  return other && rows[row]?.kind === "pair" && lineAt(rows[row], other) ? { row, side: other } : null
}
