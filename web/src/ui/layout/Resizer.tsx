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
}

const step = 16

/** The line between two places: dragged, or moved with the arrow keys. */
export function Resizer({ of, width, min, max, onChange, side, usual }: ResizerProps) {
  const start = useRef<{ x: number; width: number } | null>(null)
  const direction = side === "left" ? 1 : -1
  const change = (next: number) => onChange(Math.round(Math.min(max, Math.max(min, next))))

  function drag(event: PointerEvent<HTMLDivElement>): void {
    if (start.current) change(start.current.width + direction * (event.clientX - start.current.x))
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
      onPointerUp={() => (start.current = null)}
      onPointerCancel={() => (start.current = null)}
      onDoubleClick={() => usual !== undefined && change(usual)}
    />
  )
}
