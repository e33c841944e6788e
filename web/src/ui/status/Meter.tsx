import { words } from "../../words"
import { classes } from "../classes"
import css from "./Meter.module.css"

export interface MeterProps {
  /** What is measured. */
  label: string
  value: number
  max: number
  /** As words, as in "82,000 of 200,000 tokens"; otherwise per cent. */
  text?: string | undefined
  /** Parts of the maximum from which it warns, and from which it is nearly full. */
  warnAt?: number | undefined
  fullAt?: number | undefined
}

/** How much of something is used. Drawn only: say the figure beside it. */
export function Meter({ label, value, max, text, warnAt = 0.8, fullAt = 0.95 }: MeterProps) {
  const part = max > 0 ? Math.min(1, Math.max(0, value / max)) : 0
  const percent = Math.round(part * 100)
  return (
    <div
      role="meter"
      aria-label={label}
      aria-valuemin={0}
      aria-valuemax={max}
      aria-valuenow={Math.min(value, max)}
      aria-valuetext={text ?? words.ui.used(percent)}
      className={css["meter"]}
    >
      <div className={classes(css["filled"], part >= fullAt ? css["full"] : part >= warnAt && css["warn"])} style={{ width: `${percent}%` }} />
    </div>
  )
}
