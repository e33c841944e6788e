import { type FormEvent, useState } from "react"
import { Button } from "../../ui/buttons/Button"
import { Dialog } from "../../ui/floating/Dialog"
import { Field } from "../../ui/inputs/Field"
import { TextInput } from "../../ui/inputs/TextInput"
import { words } from "../../words/with_settings"

interface DeleteByNameProps {
  name: string
  /** What goes with it. */
  text: string
  onDelete: () => Promise<unknown>
  onClose: () => void
}

/** For what can't be taken back: the name has to be typed. */
export function DeleteByName({ name, text, onDelete, onClose }: DeleteByNameProps) {
  const [typed, setTyped] = useState("")
  const [error, setError] = useState<string | null>(null)
  const [isBusy, setBusy] = useState(false)
  const own = words.settings.deleting

  async function submit(event: FormEvent) {
    event.preventDefault()
    if (typed !== name || isBusy) return
    setBusy(true)
    setError(null)
    try {
      await onDelete()
      onClose()
    } catch (failure) {
      setError(failure instanceof Error ? failure.message : String(failure))
      setBusy(false)
    }
  }

  return (
    <Dialog
      isOpen
      onClose={onClose}
      title={own.title(name)}
      text={text}
      width="narrow"
      actions={
        <>
          <Button onClick={onClose}>{words.common.cancel}</Button>
          <Button kind="danger" type="submit" form="delete-by-name" disabled={typed !== name} isBusy={isBusy} busyText={own.busy}>
            {own.submit}
          </Button>
        </>
      }
    >
      <form id="delete-by-name" onSubmit={(event) => void submit(event)}>
        <Field label={own.label(name)} error={error}>
          <TextInput value={typed} onChange={setTyped} isCode />
        </Field>
      </form>
    </Dialog>
  )
}
