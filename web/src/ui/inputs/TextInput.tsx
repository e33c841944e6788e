import { Input } from "@base-ui/react/input"
import type { LucideIcon } from "lucide-react"
import type { ComponentProps } from "react"
import { classes } from "../classes"
import { Icon } from "../Icon"
import css from "./control.module.css"

export interface TextInputProps extends Omit<ComponentProps<"input">, "onChange" | "value" | "defaultValue" | "size"> {
  value?: string | undefined
  defaultValue?: string | undefined
  onChange?: ((value: string) => void) | undefined
  icon?: LucideIcon | undefined
  /** For paths, keys, names of models. */
  isCode?: boolean | undefined
}

export function TextInput({ onChange, icon, isCode, className, ...rest }: TextInputProps) {
  const input = (
    <Input
      autoComplete="off"
      spellCheck={isCode ? false : undefined}
      {...rest}
      className={classes(css["control"], isCode && css["code"], icon && css["withIcon"], className)}
      onValueChange={(value) => onChange?.(value)}
    />
  )
  if (!icon) return input
  return (
    <span className={css["iconed"]}>
      <Icon of={icon} className={css["icon"]} />
      {input}
    </span>
  )
}
