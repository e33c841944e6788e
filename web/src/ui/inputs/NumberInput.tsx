import { NumberField } from "@base-ui/react/number-field"
import { Minus, Plus } from "lucide-react"
import { words } from "../../words"
import { classes } from "../classes"
import { Icon } from "../Icon"
import css from "./control.module.css"
import own from "./NumberInput.module.css"

export interface NumberInputProps {
  value?: number | null | undefined
  defaultValue?: number | undefined
  onChange?: ((value: number | null) => void) | undefined
  min?: number | undefined
  max?: number | undefined
  step?: number | "any" | undefined
  /** Shown after the number, as in "days". */
  unit?: string | undefined
  name?: string | undefined
  id?: string | undefined
  "aria-label"?: string | undefined
  format?: Intl.NumberFormatOptions | undefined
}

export function NumberInput({ onChange, unit, step = 1, "aria-label": label, ...rest }: NumberInputProps) {
  return (
    <NumberField.Root {...rest} step={step} onValueChange={(value) => onChange?.(value)} className={own["root"]}>
      <NumberField.Group className={own["group"]}>
        <NumberField.Decrement className={own["step"]} aria-label={words.ui.decrease}>
          <Icon of={Minus} size={12} />
        </NumberField.Decrement>
        <NumberField.Input aria-label={label} className={classes(css["control"], own["input"])} />
        <NumberField.Increment className={own["step"]} aria-label={words.ui.increase}>
          <Icon of={Plus} size={12} />
        </NumberField.Increment>
      </NumberField.Group>
      {unit && <span className={own["unit"]}>{unit}</span>}
    </NumberField.Root>
  )
}
