import { type FormEvent, useRef, useState } from "react"
import { Refused, request } from "../api/request"
import { signedInUser } from "../browser/kept"
import { Button } from "../ui/buttons/Button"
import { Field } from "../ui/inputs/Field"
import { TextInput } from "../ui/inputs/TextInput"
import { words } from "../words/with_setup"
import css from "./entry.module.css"

/** A name and a password. What was typed stays when they are wrong. */
export function SignInForm({ knownLogin, onDone }: { knownLogin?: string; onDone: () => Promise<void> }) {
  const [login, setLogin] = useState(knownLogin ?? "")
  const [password, setPassword] = useState("")
  const [error, setError] = useState<string | null>(null)
  const [isBusy, setBusy] = useState(false)
  const secret = useRef<HTMLInputElement>(null)
  const text = words.setup.signIn

  async function submit(event: FormEvent) {
    event.preventDefault()
    setBusy(true)
    setError(null)
    // Pages of whoever was here before go now: what they have on its way is not to be sent in the name of the next.
    if (knownLogin === undefined) signedInUser.forget()
    try {
      await request("POST /api/v2/users/login", { body: { login, password } })
      await onDone()
    } catch (failure) {
      setError(failure instanceof Refused && failure.status === 401 ? text.wrong : (failure as Error).message)
      secret.current?.focus()
    } finally {
      setBusy(false)
    }
  }

  return (
    <form className={css["form"]} onSubmit={(event) => void submit(event)}>
      {knownLogin === undefined && (
        <Field label={text.login}>
          <TextInput value={login} onChange={setLogin} autoComplete="username" autoCapitalize="none" required autoFocus />
        </Field>
      )}
      <Field label={text.password} error={error}>
        <TextInput
          ref={secret}
          type="password"
          value={password}
          onChange={setPassword}
          autoComplete="current-password"
          required
          autoFocus={knownLogin !== undefined}
        />
      </Field>
      <div className={css["actions"]}>
        <Button kind="primary" type="submit" isBusy={isBusy} busyText={text.busy}>
          {text.submit}
        </Button>
      </div>
    </form>
  )
}
