import { request } from "../../api/request"
import type { GitProvider, HostKind } from "../../api/schema"
import { Field } from "../../ui/inputs/Field"
import { Select } from "../../ui/inputs/Select"
import { TextInput } from "../../ui/inputs/TextInput"
import { words } from "../../words/with_settings"
import { FormDialog } from "../form/FormDialog"
import { useForm } from "../form/use_form"

interface Typed {
  kind: HostKind
  host: string
  api_url: string
  /** Empty: as it is stored. */
  token: string
}

const kinds: readonly HostKind[] = ["github", "gitlab"]
const fresh: Typed = { kind: "github", host: "", api_url: "", token: "" }

interface GitProviderDialogProps {
  /** null: a new one. */
  provider: GitProvider | null
  onClose: () => void
  onSaved: () => void
}

export function GitProviderDialog({ provider, onClose, onSaved }: GitProviderDialogProps) {
  const text = words.settings.git
  const stored = provider ? { kind: provider.kind, host: provider.host, api_url: provider.api_url, token: "" } : fresh
  const form = useForm(stored, async (value, changes) => {
    if (provider) await request("PATCH /api/experimental/git-providers/{git_provider}", { path: { git_provider: provider.id }, body: asUpdate(changes) })
    else await request("POST /api/experimental/git-providers", { body: { ...value, token: value.token || null, api_url: value.api_url || null } })
    onSaved()
    onClose()
  })
  const { value, set, of } = form
  return (
    <FormDialog form={form} title={provider ? provider.host : text.add} submit={provider ? words.common.save : text.add} onClose={onClose}>
      <Field label={text.kind} error={of("kind")}>
        <Select choices={kinds.map((kind) => ({ value: kind, label: text.kinds[kind] }))} value={value.kind} onChange={(kind) => set({ kind })} />
      </Field>
      <Field label={text.host} hint={text.hostHint} error={of("host")}>
        <TextInput value={value.host} onChange={(host) => set({ host })} isCode />
      </Field>
      <Field label={text.token} hint={provider?.has_token ? text.tokenStored : text.tokenHint} isOptional error={of("token")}>
        <TextInput type="password" autoComplete="new-password" value={value.token} onChange={(token) => set({ token })} isCode />
      </Field>
      <Field label={text.apiUrl} hint={text.apiUrlHint} isOptional error={of("api_url")}>
        <TextInput type="url" value={value.api_url} onChange={(api_url) => set({ api_url })} isCode />
      </Field>
    </FormDialog>
  )
}

function asUpdate({ token, api_url, ...rest }: Partial<Typed>) {
  return { ...rest, ...(token && { token }), ...(api_url !== undefined && { api_url: api_url || null }) }
}
