import { request } from "../../api/request"
import type { Role, User } from "../../api/schema"
import { Field } from "../../ui/inputs/Field"
import { Select } from "../../ui/inputs/Select"
import { TextInput } from "../../ui/inputs/TextInput"
import { toast } from "../../ui/floating/toast"
import { words } from "../../words/with_settings"
import { FormDialog } from "../form/FormDialog"
import { useForm } from "../form/use_form"
import { NewPassword } from "./NewPassword"

const roles: readonly Role[] = ["owner", "auditor", "member"]
const nobody: { username: string; email: string; password: string; role: Role } = { username: "", email: "", password: "", role: "member" }

export function UserDialog({ onClose, onMade }: { onClose: () => void; onMade: () => void }) {
  const text = words.settings.users
  const account = words.setup.account
  const form = useForm(nobody, async (value) => {
    await request("POST /api/v2/users", { body: value })
    onMade()
    onClose()
  })
  const { value, set, of } = form
  return (
    <FormDialog form={form} title={text.add} submit={text.add} onClose={onClose}>
      <Field label={account.username} hint={account.usernameHint} error={of("username")}>
        <TextInput value={value.username} onChange={(username) => set({ username })} isCode />
      </Field>
      <Field label={account.email} error={of("email")}>
        <TextInput type="email" value={value.email} onChange={(email) => set({ email })} />
      </Field>
      <NewPassword label={account.password} value={value.password} onChange={(password) => set({ password })} error={of("password")} />
      <Field label={text.role} hint={text.roleHints[value.role]} error={of("role")}>
        <Select choices={roles.map((role) => ({ value: role, label: text.roles[role] }))} value={value.role} onChange={(role) => set({ role })} />
      </Field>
    </FormDialog>
  )
}

export function PasswordDialog({ user, onClose }: { user: User; onClose: () => void }) {
  const text = words.settings.users
  const form = useForm({ password: "" }, async (value) => {
    await request("PUT /api/v2/users/{user}/password", { path: { user: user.id }, body: value })
    toast(text.passwordSet(user.username))
    onClose()
  })
  return (
    <FormDialog form={form} title={text.setPassword} text={text.passwordText(user.username)} submit={words.common.save} onClose={onClose}>
      <NewPassword
        label={words.settings.password.new}
        value={form.value.password}
        onChange={(password) => form.set({ password })}
        error={form.of("password")}
      />
    </FormDialog>
  )
}
