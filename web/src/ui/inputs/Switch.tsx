import { Switch as Base } from "@base-ui/react/switch"
import css from "./Switch.module.css"

export interface SwitchProps {
  isOn: boolean
  onChange: (isOn: boolean) => void
  isDisabled?: boolean | undefined
  "aria-label"?: string | undefined
  id?: string | undefined
}

/** Takes effect at once; inside of a form that is saved, use a Checkbox. */
export function Switch({ isOn, onChange, isDisabled = false, ...rest }: SwitchProps) {
  return (
    <Base.Root {...rest} checked={isOn} onCheckedChange={(next) => onChange(next)} disabled={isDisabled} className={css["switch"]}>
      <Base.Thumb className={css["thumb"]} />
    </Base.Root>
  )
}
