import { Refused } from "../../api/request"
import { words } from "../../words/with_settings"
import { FieldName } from "./FieldName"
import css from "./form.module.css"
import type { Form } from "./use_form"

/** What fields say is below them; here is the rest. */
export function Problem<T extends object>({ form }: { form: Form<T> }) {
  const { error } = form
  if (!error) return null
  const wrong = error instanceof Refused ? (error.problem.validations ?? []) : []
  const others = form.unshown()
  if (wrong.length > 0 && others.length === 0) return null
  const detail = error instanceof Refused ? error.problem.detail : words.settings.notSaved
  // "Check base_url." says less than what follows, and in words that are not on this page.
  const saysMore = !wrong.some((one) => error.message.includes(one.field))
  return (
    <div role="alert" className={css["problem"]}>
      {saysMore && <p>{error.message}</p>}
      {saysMore && detail && <p>{detail}</p>}
      {others.map((one) => (
        <p key={one.field}>
          <FieldName of={one.field} />: {one.detail}
        </p>
      ))}
    </div>
  )
}
