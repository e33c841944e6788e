import { useState } from "react"
import { Button } from "../../ui/buttons/Button"
import { CopyButton } from "../../ui/buttons/CopyButton"
import { Field } from "../../ui/inputs/Field"
import { TextInput } from "../../ui/inputs/TextInput"
import { words } from "../../words/with_settings"
import css from "../place.module.css"
import { generatedPassword } from "./generated_password"

interface NewPasswordProps {
  label: string
  value: string
  onChange: (password: string) => void
  error: string | undefined
}

/** A password for someone else: one that was generated is shown, since it has to be passed on. */
export function NewPassword({ label, value, onChange, error }: NewPasswordProps) {
  const [generated, setGenerated] = useState<string | null>(null)
  const text = words.settings.users
  const isShown = value !== "" && value === generated
  return (
    <Field label={label} hint={isShown ? text.generated : words.setup.account.passwordHint} error={error}>
      <span className={css["beside"]}>
        <TextInput type={isShown ? "text" : "password"} isCode={isShown} autoComplete="new-password" value={value} onChange={onChange} />
        {isShown && <CopyButton text={value} />}
        <Button
          onClick={() => {
            const next = generatedPassword()
            setGenerated(next)
            onChange(next)
          }}
        >
          {text.generate}
        </Button>
      </span>
    </Field>
  )
}
