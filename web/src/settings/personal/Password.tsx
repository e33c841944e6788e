import { request } from "../../api/request"
import { Field } from "../../ui/inputs/Field"
import { TextInput } from "../../ui/inputs/TextInput"
import { PageTitle } from "../../ui/layout/Page"
import { words } from "../../words/with_settings"
import { SettingsForm } from "../form/SettingsForm"
import { useForm } from "../form/use_form"

const nothing = { old_password: "", password: "", again: "" }

export function Password() {
  const text = words.settings.password
  const form = useForm(
    nothing,
    async ({ old_password, password }) => {
      await request("PUT /api/v2/users/{user}/password", { path: { user: "me" }, body: { old_password, password } })
      return nothing
    },
    ({ password, again }) => (password === again ? [] : [{ field: "again", detail: text.different }]),
  )
  return (
    <>
      <PageTitle title={words.settings.pages.password} text={text.text} />
      <SettingsForm form={form} submit={text.submit}>
        <Field label={text.old} error={form.of("old_password")}>
          <TextInput
            type="password"
            autoComplete="current-password"
            value={form.value.old_password}
            onChange={(old_password) => form.set({ old_password })}
          />
        </Field>
        <Field label={text.new} hint={words.setup.account.passwordHint} error={form.of("password")}>
          <TextInput type="password" autoComplete="new-password" value={form.value.password} onChange={(password) => form.set({ password })} />
        </Field>
        <Field label={text.again} error={form.of("again")}>
          <TextInput type="password" autoComplete="new-password" value={form.value.again} onChange={(again) => form.set({ again })} />
        </Field>
      </SettingsForm>
    </>
  )
}
