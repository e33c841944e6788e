import { useEffect } from "react"
import { words } from "../words/with_setup"
import { Brand } from "./Brand"
import css from "./entry.module.css"
import { SignInForm } from "./SignInForm"

/** The address stays, so that a link to a chat leads there after signing in. */
export function SignIn({ onDone }: { onDone: () => Promise<void> }) {
  useEffect(() => {
    document.title = `${words.setup.signIn.title} · ${words.common.name}`
  }, [])
  return (
    <main className={css["page"]}>
      <div className={css["card"]}>
        <Brand />
        <h1 className={css["title"]}>{words.setup.signIn.title}</h1>
        <SignInForm onDone={onDone} />
        <p className={css["note"]}>{words.setup.signIn.lost}</p>
      </div>
    </main>
  )
}
