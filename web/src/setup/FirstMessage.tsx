import { type FormEvent, useState } from "react"
import { Button } from "../ui/buttons/Button"
import { Field } from "../ui/inputs/Field"
import { TextArea } from "../ui/inputs/TextArea"
import { words } from "../words/with_setup"
import css from "./entry.module.css"

export function FirstMessage({ onSend, onSkip }: { onSend: (text: string) => Promise<void>; onSkip: () => void }) {
  const [text, setText] = useState("")
  const [error, setError] = useState<string | null>(null)
  const [isBusy, setBusy] = useState(false)
  const of = words.setup.first

  async function send(message: string) {
    if (!message.trim() || isBusy) return
    setBusy(true)
    setError(null)
    try {
      await onSend(message)
    } catch (failure) {
      setError((failure as Error).message)
      setBusy(false)
    }
  }

  function submit(event: FormEvent) {
    event.preventDefault()
    void send(text)
  }

  return (
    <form className={css["form"]} onSubmit={submit}>
      <ul className={css["examples"]}>
        {of.examples.map((example) => (
          <li key={example}>
            <button type="button" className={css["example"]} onClick={() => void send(example)} disabled={isBusy}>
              {example}
            </button>
          </li>
        ))}
      </ul>
      <Field label={of.title} isLabelHidden error={error}>
        <TextArea
          value={text}
          onChange={setText}
          minRows={2}
          autoFocus
          onKeyDown={(event) => {
            if (event.key !== "Enter" || event.shiftKey || event.nativeEvent.isComposing) return
            event.preventDefault()
            void send(text)
          }}
        />
      </Field>
      <div className={css["actions"]}>
        <Button kind="primary" type="submit" isBusy={isBusy} disabled={!text.trim() && !isBusy}>
          {of.submit}
        </Button>
        <Button kind="quiet" onClick={onSkip}>
          {of.skip}
        </Button>
      </div>
    </form>
  )
}
