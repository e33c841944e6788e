import { request } from "../../api/request"
import type { Group, Period, User } from "../../api/schema"
import { Field } from "../../ui/inputs/Field"
import { NumberInput } from "../../ui/inputs/NumberInput"
import { Select } from "../../ui/inputs/Select"
import { words } from "../../words/with_settings"
import { FormDialog } from "../form/FormDialog"
import { useForm } from "../form/use_form"

const periods: readonly Period[] = ["day", "week", "month"]
const EVERYONE = "everyone"

interface Typed {
  /** `user:…`, `group:…`, or everyone. */
  who: string
  period: Period
  dollars: number | null
}

const nothing: Typed = { who: EVERYONE, period: "month", dollars: null }

interface LimitDialogProps {
  users: readonly User[]
  groups: readonly Group[]
  onClose: () => void
  onMade: () => void
}

export function LimitDialog({ users, groups, onClose, onMade }: LimitDialogProps) {
  const text = words.settings.limits
  const form = useForm(nothing, async ({ who, period, dollars }) => {
    const [kind, id] = who.split(":")
    const of = kind === "user" && id ? { user_id: id } : kind === "group" && id ? { group_id: id } : {}
    const limit_micros = dollars === null ? null : Math.round(dollars * 1_000_000)
    await request("PUT /api/experimental/chats/usage-limits", { body: { period, limit_micros, ...of } })
    onMade()
    onClose()
  })
  const { value, set, of } = form
  return (
    <FormDialog form={form} title={text.add} text={text.addText} submit={words.common.save} onClose={onClose}>
      <Field label={text.who} error={of("user_id") ?? of("group_id")}>
        <Select
          choices={[
            { value: EVERYONE, label: text.everyone },
            ...groups.map((one) => ({ value: `group:${one.id}`, label: text.group(one.display_name || one.name) })),
            ...users.map((one) => ({ value: `user:${one.id}`, label: one.display_name || one.username })),
          ]}
          value={value.who}
          onChange={(who) => set({ who })}
        />
      </Field>
      <Field label={text.period} error={of("period")}>
        <Select choices={periods.map((period) => ({ value: period, label: text.periods[period] }))} value={value.period} onChange={(period) => set({ period })} />
      </Field>
      <Field label={text.limit} hint={text.limitHint} error={of("limit_micros")}>
        <NumberInput value={value.dollars} onChange={(dollars) => set({ dollars })} min={0} step={5} unit={text.dollars} />
      </Field>
    </FormDialog>
  )
}
