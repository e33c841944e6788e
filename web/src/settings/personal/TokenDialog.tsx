import { type FormEvent, useState } from "react"
import { Refused, request } from "../../api/request"
import { Button } from "../../ui/buttons/Button"
import { CopyButton } from "../../ui/buttons/CopyButton"
import { Dialog } from "../../ui/floating/Dialog"
import { Field } from "../../ui/inputs/Field"
import { Select } from "../../ui/inputs/Select"
import { TextInput } from "../../ui/inputs/TextInput"
import { words } from "../../words/with_settings"
import form from "../form/form.module.css"
import css from "../place.module.css"

const lifetimes = ["7", "30", "90", "365"] as const
const rights = ["*:*", "*:read"] as const

/** The key is shown here, once: the server keeps only what it needs to recognise it. */
export function TokenDialog({ onClose, onMade }: { onClose: () => void; onMade: () => void }) {
  const [name, setName] = useState("")
  const [days, setDays] = useState<(typeof lifetimes)[number]>("30")
  const [right, setRight] = useState<(typeof rights)[number]>("*:*")
  const [key, setKey] = useState<string | null>(null)
  const [error, setError] = useState<Error | null>(null)
  const [isBusy, setBusy] = useState(false)
  const text = words.settings.tokens

  async function submit(event: FormEvent) {
    event.preventDefault()
    setBusy(true)
    setError(null)
    try {
      const body = { name, scopes: [right], lifetime_hours: Number(days) * 24 }
      const made = await request("POST /api/v2/users/{user}/tokens", { path: { user: "me" }, body })
      setKey(made.key)
      onMade()
    } catch (failure) {
      setError(failure instanceof Error ? failure : new Error(String(failure)))
    } finally {
      setBusy(false)
    }
  }

  if (key !== null)
    return (
      <Dialog isOpen onClose={onClose} title={text.madeTitle} text={text.madeText} actions={<CopyButton text={key} isWordShown />}>
        <p className={css["secret"]}>{key}</p>
      </Dialog>
    )
  return (
    <Dialog
      isOpen
      onClose={onClose}
      title={text.make}
      width="narrow"
      actions={
        <Button kind="primary" type="submit" form="new-token" disabled={!name.trim()} isBusy={isBusy}>
          {text.make}
        </Button>
      }
    >
      <form id="new-token" className={form["form"]} onSubmit={(event) => void submit(event)}>
        <Field label={text.name} hint={text.nameHint} error={error instanceof Refused ? (error.of("name") ?? error.message) : error?.message}>
          <TextInput value={name} onChange={setName} />
        </Field>
        <Field label={text.rights}>
          <Select choices={rights.map((value) => ({ value, label: text.right[value] }))} value={right} onChange={setRight} />
        </Field>
        <Field label={text.lifetime}>
          <Select choices={lifetimes.map((value) => ({ value, label: text.days(value) }))} value={days} onChange={setDays} />
        </Field>
      </form>
    </Dialog>
  )
}
