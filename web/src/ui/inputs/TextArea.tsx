import { Field } from "@base-ui/react/field"
import type { ComponentProps, Ref } from "react"
import { useLayoutEffect, useRef } from "react"
import { classes } from "../classes"
import css from "./control.module.css"
import area from "./TextArea.module.css"

export interface TextAreaProps extends Omit<ComponentProps<"textarea">, "onChange" | "value" | "defaultValue" | "rows" | "ref"> {
  value?: string | undefined
  defaultValue?: string | undefined
  onChange?: ((value: string) => void) | undefined
  /** Lines when empty, and lines after which it scrolls. */
  minRows?: number | undefined
  maxRows?: number | undefined
  isCode?: boolean | undefined
  ref?: Ref<HTMLTextAreaElement> | undefined
}

const growsItself = typeof CSS !== "undefined" && CSS.supports("field-sizing", "content")

/** Grows with what is typed. */
export function TextArea({ onChange, minRows = 3, maxRows = 16, isCode, className, style, ref, value, ...rest }: TextAreaProps) {
  const element = useRef<HTMLTextAreaElement>(null)
  useLayoutEffect(() => {
    if (element.current && !growsItself) fit(element.current)
  }, [value])
  return (
    <Field.Control
      value={value}
      className={classes(css["control"], area["area"], isCode && css["code"], className)}
      onValueChange={(next) => {
        if (element.current && !growsItself) fit(element.current)
        onChange?.(next)
      }}
      render={
        <textarea
          {...rest}
          rows={minRows}
          style={{ ...style, "--min-rows": minRows, "--max-rows": maxRows }}
          ref={(found) => {
            element.current = found
            if (typeof ref === "function") ref(found)
            else if (ref) ref.current = found
          }}
        />
      }
    />
  )
}

function fit(area: HTMLTextAreaElement): void {
  area.style.height = "auto"
  area.style.height = `${area.scrollHeight + area.offsetHeight - area.clientHeight}px`
}
