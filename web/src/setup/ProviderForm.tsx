import { useQuery, useQueryClient } from "@tanstack/react-query"
import { type FormEvent, type ReactNode, useEffect, useRef, useState } from "react"
import { queries } from "../api/queries"
import { Refused, request } from "../api/request"
import type { ProviderKind } from "../api/schema"
import { Button } from "../ui/buttons/Button"
import { Field } from "../ui/inputs/Field"
import { focusFirstWrong } from "../ui/inputs/first_wrong"
import { Select } from "../ui/inputs/Select"
import { TextInput } from "../ui/inputs/TextInput"
import { words } from "../words/with_setup"
import css from "./entry.module.css"

/** Those that a key is enough for. The others are under Settings, where there is room for what they need. */
const kinds: { value: ProviderKind; label: string }[] = [
  { value: "anthropic", label: "Anthropic" },
  { value: "openai", label: "OpenAI" },
  { value: "google", label: "Google" },
  { value: "openrouter", label: "OpenRouter" },
  { value: "openai-compat", label: "OpenAI-compatible" },
]

/** A provider and one model of it, tried out before anything is stored. */
export function ProviderForm({ onDone, later }: { onDone: () => void; later: ReactNode }) {
  const [kind, setKind] = useState<ProviderKind>("anthropic")
  const [key, setKey] = useState("")
  const [address, setAddress] = useState("")
  const [typed, setTyped] = useState("")
  const [error, setError] = useState<Error | null>(null)
  const [isBusy, setBusy] = useState(false)
  const form = useRef<HTMLFormElement>(null)
  const client = useQueryClient()
  const known = useQuery(queries.knownModels(kind))
  const text = words.setup.model
  const models = known.data ?? []
  const model = typed || (models[0]?.model ?? "")
  const needsAddress = kind === "openai-compat"
  const of = (field: string) => (error instanceof Refused ? error.of(field) : undefined)
  const isElsewhere = error !== null && !["base_url", "api_key", "model"].some((field) => of(field))
  useEffect(() => {
    if (error) focusFirstWrong(form.current)
  }, [error])

  async function submit(event: FormEvent) {
    event.preventDefault()
    setBusy(true)
    setError(null)
    try {
      const base = needsAddress ? { base_url: address } : {}
      const tried = await request("POST /api/experimental/chats/providers/test", { body: { type: kind, api_key: key || null, model, ...base } })
      if (!tried.ok) {
        setError(new Error([tried.message, tried.detail].filter(Boolean).join(" ")))
        return
      }
      const provider = await request("POST /api/experimental/chats/providers", { body: { type: kind, name: kind, api_key: key || null, ...base } })
      await request("POST /api/experimental/chats/model-configs", { body: { ai_provider_id: provider.id, model, is_default: true } })
      await client.invalidateQueries({ queryKey: queries.models.queryKey })
      onDone()
    } catch (failure) {
      setError(failure as Error)
    } finally {
      setBusy(false)
    }
  }

  return (
    <form ref={form} className={css["form"]} onSubmit={(event) => void submit(event)}>
      <Field label={text.type}>
        <Select
          choices={kinds}
          value={kind}
          onChange={(next) => {
            setKind(next)
            setTyped("")
            setKey("") // it is for the other one, and may be nobody else's to read
            setError(null)
          }}
        />
      </Field>
      {needsAddress && (
        <Field label={text.address} hint={text.addressHint} error={of("base_url")}>
          <TextInput type="url" value={address} onChange={setAddress} isCode required />
        </Field>
      )}
      <Field label={text.key} hint={text.keyHint} error={of("api_key")}>
        <TextInput type="password" value={key} onChange={setKey} isCode required={!needsAddress} autoComplete="off" />
      </Field>
      <Field label={text.model} hint={models.length === 0 ? text.noModels : undefined} error={of("model")}>
        {models.length > 0 ? (
          <Select choices={models.map((one) => ({ value: one.model, label: one.display_name || one.model }))} value={model} onChange={setTyped} />
        ) : (
          <TextInput value={typed} onChange={setTyped} isCode required />
        )}
      </Field>
      {isElsewhere && (
        <p role="alert" className={css["error"]}>
          {error.message}
        </p>
      )}
      <div className={css["actions"]}>
        <Button kind="primary" type="submit" isBusy={isBusy} busyText={text.busy}>
          {text.add}
        </Button>
        {later}
      </div>
    </form>
  )
}
