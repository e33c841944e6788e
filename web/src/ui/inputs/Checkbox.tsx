import { Checkbox as Base } from "@base-ui/react/checkbox"
import { Check, Minus } from "lucide-react"
import type { ReactNode } from "react"
import { useId } from "react"
import { Icon } from "../Icon"
import css from "./Checkbox.module.css"

export interface CheckboxProps {
  label: ReactNode
  hint?: ReactNode
  isChecked: boolean
  /** Some of what it stands for, not all. */
  isMixed?: boolean | undefined
  onChange: (isChecked: boolean) => void
  isDisabled?: boolean | undefined
  isLabelHidden?: boolean | undefined
}

export function Checkbox({ label, hint, isChecked, isMixed = false, onChange, isDisabled = false, isLabelHidden }: CheckboxProps) {
  const id = useId()
  return (
    <label className={css["row"]} data-disabled={isDisabled || undefined}>
      <Base.Root
        checked={isChecked}
        indeterminate={isMixed}
        onCheckedChange={(next) => onChange(next)}
        disabled={isDisabled}
        className={css["box"]}
        aria-labelledby={id}
        aria-describedby={hint ? `${id}-hint` : undefined}
      >
        <Base.Indicator className={css["mark"]}>
          <Icon of={isMixed ? Minus : Check} size={12} />
        </Base.Indicator>
      </Base.Root>
      <span className={isLabelHidden ? "unseen" : css["words"]}>
        <span id={id}>{label}</span>
        {hint && (
          <span id={`${id}-hint`} className={css["hint"]}>
            {hint}
          </span>
        )}
      </span>
    </label>
  )
}
