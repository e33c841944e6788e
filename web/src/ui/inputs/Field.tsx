import { Field as Base } from "@base-ui/react/field"
import type { ReactNode } from "react"
import { words } from "../../words"
import { classes } from "../classes"
import css from "./Field.module.css"

export interface FieldProps {
  label: ReactNode
  hint?: ReactNode
  /** What is wrong, and what would be right. */
  error?: ReactNode
  isOptional?: boolean | undefined
  isDisabled?: boolean | undefined
  isLabelHidden?: boolean | undefined
  /** row: words on the left, the control on the right; for switches and short choices in settings. */
  layout?: "stacked" | "row" | undefined
  /** One of the controls in this folder: the label, the hint and the error are tied to it. */
  children: ReactNode
}

export function Field({ label, hint, error, isOptional, isDisabled = false, isLabelHidden, layout = "stacked", children }: FieldProps) {
  const isWrong = error !== undefined && error !== null && error !== false && error !== ""
  return (
    <Base.Root disabled={isDisabled} invalid={isWrong} className={classes(css["field"], css[layout])}>
      <div className={css["words"]}>
        <Base.Label className={classes(css["label"], isLabelHidden && "unseen")}>
          {label}
          {isOptional && <span className={css["optional"]}> {words.ui.optional}</span>}
        </Base.Label>
        {layout === "row" && <Hint hint={hint} />}
      </div>
      {children}
      {/* What is wrong takes its place: it says what would be right, and what is below moves less. */}
      {layout === "stacked" && !isWrong && <Hint hint={hint} />}
      {isWrong && (
        <Base.Error match className={css["error"]}>
          {error}
        </Base.Error>
      )}
    </Base.Root>
  )
}

function Hint({ hint }: { hint: ReactNode }) {
  return hint ? <Base.Description className={css["hint"]}>{hint}</Base.Description> : null
}
