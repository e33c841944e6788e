import { Select as Base } from "@base-ui/react/select"
import { Check, ChevronsUpDown } from "lucide-react"
import type { ReactNode } from "react"
import { words } from "../../words"
import { classes } from "../classes"
import popup from "../floating/popup.module.css"
import { Icon } from "../Icon"
import control from "./control.module.css"
import css from "./Select.module.css"

export interface Choice<Value extends string> {
  value: Value
  label: string
  /** A muted line below the label. */
  hint?: ReactNode
  isDisabled?: boolean | undefined
}

export interface SelectProps<Value extends string> {
  choices: readonly Choice<Value>[]
  value: Value | null
  onChange: (value: Value) => void
  placeholder?: string | undefined
  /** Only outside of a Field. */
  "aria-label"?: string | undefined
  /** small and without a line: among other controls of a row. */
  kind?: "plain" | "quiet" | undefined
  isDisabled?: boolean | undefined
  name?: string | undefined
  className?: string | undefined
}

export function Select<Value extends string>(props: SelectProps<Value>) {
  const { choices, value, onChange, placeholder = words.ui.choose, kind = "plain", isDisabled = false, name, className } = props
  return (
    <Base.Root
      items={choices}
      value={value}
      onValueChange={(next: Value | null) => next !== null && onChange(next)}
      disabled={isDisabled}
      name={name}
      modal={false}
    >
      <Base.Trigger aria-label={props["aria-label"]} className={classes(control["control"], css["trigger"], css[kind], className)}>
        <Base.Value placeholder={placeholder} className={css["value"]} />
        <Icon of={ChevronsUpDown} size={12} className={css["chevron"]} />
      </Base.Trigger>
      <Base.Portal>
        <Base.Positioner alignItemWithTrigger={false} sideOffset={4} collisionPadding={8} className={popup["positioner"]}>
          <Base.Popup className={classes(popup["popup"], css["popup"])}>
            <Base.List>
              {choices.map((choice) => (
                <Base.Item key={choice.value} value={choice.value} disabled={choice.isDisabled ?? false} className={popup["item"]}>
                  <span className={popup["start"]}>
                    <Base.ItemIndicator>
                      <Icon of={Check} />
                    </Base.ItemIndicator>
                  </span>
                  <span className={popup["label"]}>
                    <Base.ItemText>{choice.label}</Base.ItemText>
                    {choice.hint && <span className={popup["hint"]}>{choice.hint}</span>}
                  </span>
                </Base.Item>
              ))}
            </Base.List>
          </Base.Popup>
        </Base.Positioner>
      </Base.Portal>
    </Base.Root>
  )
}
