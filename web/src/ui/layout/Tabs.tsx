import { Tabs as Base } from "@base-ui/react/tabs"
import type { LucideIcon } from "lucide-react"
import type { ReactNode } from "react"
import { Icon } from "../Icon"
import css from "./Tabs.module.css"

export interface Tab<Value extends string> {
  value: Value
  label: string
  icon?: LucideIcon | undefined
  /** Beside the label: a number, a state. */
  end?: ReactNode
  panel: ReactNode
  /** Stays alive while another is shown, as a terminal does. */
  isKept?: boolean | undefined
}

export interface TabsProps<Value extends string> {
  label: string
  tabs: readonly Tab<Value>[]
  value: Value
  onChange: (value: Value) => void
  /** At the end of the row: buttons. */
  end?: ReactNode
  /** Fills its parent, the panel scrolls. */
  isFilling?: boolean | undefined
}

export function Tabs<Value extends string>({ label, tabs, value, onChange, end, isFilling = false }: TabsProps<Value>) {
  return (
    <Base.Root value={value} onValueChange={(next: Value) => onChange(next)} className={isFilling ? css["filling"] : css["tabs"]}>
      <div className={css["row"]}>
        <Base.List aria-label={label} className={css["list"]}>
          {tabs.map((tab) => (
            <Base.Tab key={tab.value} value={tab.value} className={css["tab"]}>
              {tab.icon && <Icon of={tab.icon} />}
              {tab.label}
              {tab.end}
            </Base.Tab>
          ))}
        </Base.List>
        {end && <div className={css["end"]}>{end}</div>}
      </div>
      {tabs.map((tab) => (
        <Base.Panel key={tab.value} value={tab.value} keepMounted={tab.isKept ?? false} className={css["panel"]}>
          {tab.panel}
        </Base.Panel>
      ))}
    </Base.Root>
  )
}
