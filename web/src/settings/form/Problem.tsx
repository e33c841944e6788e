import { Refused } from "../../api/request"
import { words } from "../../words/with_settings"
import css from "./form.module.css"

/** What fields say is below them; here is the rest. */
export function Problem({ error, shown }: { error: Error; shown: readonly string[] }) {
  const others = error instanceof Refused ? (error.problem.validations ?? []).filter((one) => !shown.includes(one.field)) : []
  const detail = error instanceof Refused ? error.problem.detail : words.settings.notSaved
  return (
    <div role="alert" className={css["problem"]}>
      <p>{error.message}</p>
      {detail && <p>{detail}</p>}
      {others.map((one) => (
        <p key={one.field}>
          <code>{one.field}</code>: {one.detail}
        </p>
      ))}
    </div>
  )
}
