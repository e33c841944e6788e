import { Radio } from "@base-ui/react/radio"
import { RadioGroup } from "@base-ui/react/radio-group"
import type { LucideIcon } from "lucide-react"
import { Icon } from "../Icon"
import css from "./Segmented.module.css"

export interface Segment<Value extends string> {
  value: Value
  label: string
  icon?: LucideIcon | undefined
}

export interface SegmentedProps<Value extends string> {
  /** What is being chosen. */
  label: string
  segments: readonly Segment<Value>[]
  value: Value
  onChange: (value: Value) => void
}

/** Two to four short choices side by side. */
export function Segmented<Value extends string>({ label, segments, value, onChange }: SegmentedProps<Value>) {
  return (
    <RadioGroup
      aria-label={label}
      value={value}
      onValueChange={(next: Value | null) => next !== null && onChange(next)}
      className={css["group"]}
    >
      {segments.map((segment) => (
        <Radio.Root key={segment.value} value={segment.value} className={css["segment"]} aria-label={segment.label}>
          {segment.icon && <Icon of={segment.icon} />}
          {segment.label}
        </Radio.Root>
      ))}
    </RadioGroup>
  )
}
