import { type KeyboardEvent, type PointerEvent, useRef } from "react"
import { words } from "../../words"
import css from "./Resizer.module.css"

export interface ResizerProps {
  /** What is resized, as in "the sidebar". */
  of: string
  /** Of that, in pixels. */
  width: number
  min: number
  max: number
  onChange: (width: number) => void
  /** On which side of the line it is. */
  side: "left" | "right"
  /** Given back by a double click. */
  usual?: number | undefined
  /** Let go well beyond the narrowest or the widest. */
  onBeyond?: ((end: "min" | "max") => void) | undefined
}

const step = 16
/** How far beyond is meant. */
const beyond = 80

/** The line between two places: dragged, or moved with the arrow keys. */
export function Resizer({ of, width, min, max, onChange, side, usual, onBeyond }: ResizerProps) {
  const start = useRef<{ x: number; width: number } | null>(null)
  const direction = side === "left" ? 1 : -1
  const change = (next: number) => onChange(Math.round(Math.min(max, Math.max(min, next))))

  function dragged(event: PointerEvent<HTMLDivElement>): number | null {
    return start.current && start.current.width + direction * (event.clientX - start.current.x)
  }

  function drag(event: PointerEvent<HTMLDivElement>): void {
    const next = dragged(event)
    if (next !== null) change(next)
  }

  function drop(event: PointerEvent<HTMLDivElement>): void {
    const end = dragged(event)
    start.current = null
    if (end === null) return
    if (end < min - beyond) onBeyond?.("min")
    else if (end > max + beyond) onBeyond?.("max")
  }

  function press(event: KeyboardEvent<HTMLDivElement>): void {
    const distance = event.shiftKey ? 4 * step : step
    const widths: Record<string, number> = {
      ArrowLeft: width - direction * distance,
      ArrowRight: width + direction * distance,
      Home: min,
      End: max,
    }
    const next = widths[event.key]
    if (next === undefined) return
    event.preventDefault()
    change(next)
  }

  return (
    <div
      role="separator"
      aria-orientation="vertical"
      aria-label={words.ui.resize(of)}
      aria-valuenow={Math.round(width)}
      aria-valuemin={min}
      aria-valuemax={max}
      tabIndex={0}
      className={css["resizer"]}
      onKeyDown={press}
      onPointerDown={(event) => {
        if (event.button !== 0) return
        event.currentTarget.setPointerCapture(event.pointerId)
        start.current = { x: event.clientX, width }
      }}
      onPointerMove={drag}
      onPointerUp={drop}
      onPointerCancel={() => (start.current = null)}
      onDoubleClick={() => usual !== undefined && change(usual)}
    />
  )
}
