import { Link } from "wouter"
import { words } from "../words"
import css from "../ui/status/Crash.module.css"

export function NotFound({ opener }: { opener: React.ReactNode }) {
  return (
    <main className={css["crash"]}>
      {opener}
      <h1>{words.shell.notFound}</h1>
      <p>{words.shell.notFoundText}</p>
      <p>
        <Link href="/">{words.shell.toChats}</Link>
      </p>
    </main>
  )
}
