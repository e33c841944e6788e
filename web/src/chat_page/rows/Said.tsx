import { Children, type ReactNode } from "react"
import type { Reference, Written } from "../../chat"
import { classes } from "../../ui/classes"
import { ReferenceRow } from "./ReferenceRow"
import css from "./row.module.css"

/** What a person has written: what is said about lines beside them, then the text, then what goes with it. */
export function Said({ written: { text, references }, isSending = false, children }: { written: Written; isSending?: boolean; children?: ReactNode }) {
  const remarks = references.filter((reference) => reference.comment)
  const others = references.filter((reference) => !reference.comment)
  const keyOf = ({ file_name }: Reference, place: number) => `${place}:${file_name}`
  const paragraph = (said: string) => (
    <p className={classes(css["said"], isSending && css["sending"])} data-said>
      {said}
    </p>
  )
  return (
    <>
      {remarks.map((reference, place) => (
        <div key={keyOf(reference, place)} className={css["remark"]}>
          <ReferenceRow reference={reference} />
          {paragraph(reference.comment ?? "")}
        </div>
      ))}
      {text !== "" && paragraph(text)}
      {(others.length > 0 || Children.toArray(children).length > 0) && (
        <div className={css["attached"]}>
          {others.map((reference, place) => (
            <ReferenceRow key={keyOf(reference, place)} reference={reference} />
          ))}
          {children}
        </div>
      )}
    </>
  )
}
