import { type FormEvent, useEffect, useRef, useState } from "react"
import { Refused, request } from "../api/request"
import { Button } from "../ui/buttons/Button"
import { Field } from "../ui/inputs/Field"
import { focusFirstWrong } from "../ui/inputs/first_wrong"
import { TextInput } from "../ui/inputs/TextInput"
import { words } from "../words/with_setup"
import css from "./entry.module.css"

/** The first account. The link in the server's terminal brings the one-time code in its fragment, which no server log sees. */
export function AccountStep({ onDone }: { onDone: () => Promise<void> }) {
  const [code, setCode] = useState(() => location.hash.slice(1))
  const [username, setUsername] = useState("")
  const [email, setEmail] = useState("")
  const [password, setPassword] = useState("")
  const [failure, setFailure] = useState<Error | null>(null)
  const [isBusy, setBusy] = useState(false)
  const form = useRef<HTMLFormElement>(null)
  const text = words.setup.account
  const of = (field: string) => wrongWith(field, failure)
  useEffect(() => {
    if (failure) focusFirstWrong(form.current)
  }, [failure])
  const isElsewhere = failure !== null && !["code", "username", "email", "password"].some((field) => of(field))

  async function submit(event: FormEvent) {
    event.preventDefault()
    setBusy(true)
    setFailure(null)
    try {
      await request("POST /api/v2/users/first", { body: { code, username, email, password } })
      await request("POST /api/v2/users/login", { body: { login: username, password } })
      await onDone()
    } catch (error) {
      setFailure(error as Error)
    } finally {
      setBusy(false)
    }
  }

  return (
    <form ref={form} className={css["form"]} onSubmit={(event) => void submit(event)}>
      <Field label={text.code} hint={text.codeHint} error={of("code")}>
        <TextInput value={code} onChange={setCode} isCode required autoFocus={code === ""} autoCapitalize="characters" />
      </Field>
      <Field label={text.username} hint={text.usernameHint} error={of("username")}>
        <TextInput value={username} onChange={setUsername} required autoFocus={code !== ""} autoCapitalize="none" autoComplete="username" />
      </Field>
      <Field label={text.email} error={of("email")}>
        <TextInput type="email" value={email} onChange={setEmail} required autoComplete="email" />
      </Field>
      <Field label={text.password} hint={text.passwordHint} error={of("password")}>
        <TextInput type="password" value={password} onChange={setPassword} required autoComplete="new-password" minLength={8} />
      </Field>
      {isElsewhere && (
        <p role="alert" className={css["error"]}>
          {failure.message}
        </p>
      )}
      <div className={css["actions"]}>
        <Button kind="primary" type="submit" isBusy={isBusy} busyText={text.busy}>
          {text.submit}
        </Button>
      </div>
    </form>
  )
}

const FORBIDDEN = 403

/** Forbidden is only who has another code: nobody is signed in who could lack a right. */
function wrongWith(field: string, failure: Error | null): string | undefined {
  if (!(failure instanceof Refused)) return undefined
  return failure.of(field) ?? (field === "code" && failure.status === FORBIDDEN ? failure.message : undefined)
}
