import type { ReactNode } from "react"
import { Link } from "wouter"
import css from "../chat_page/ChatUnavailable.module.css"
import { words } from "../words"

export function NotFound({ opener }: { opener: ReactNode }) {
  return (
    <main className={css["page"]}>
      <div className={css["bar"]}>{opener}</div>
      <div className={css["middle"]}>
        <div className={css["words"]}>
          <h1>{words.shell.notFound}</h1>
          <p>{words.shell.notFoundText}</p>
          <Link href="/">{words.shell.toChats}</Link>
        </div>
      </div>
    </main>
  )
}
