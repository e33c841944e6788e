import type { ReactNode } from "react"
import { Link } from "wouter"
import type { Refused } from "../api/request"
import { Button } from "../ui/buttons/Button"
import { words } from "../words"
import css from "./ChatUnavailable.module.css"

export function ChatUnavailable({ refused, opener, onRetry }: { refused: Refused | null; opener: ReactNode; onRetry: () => void }) {
  const isMissing = refused?.status === 404 || refused?.status === 400
  return (
    <main className={css["page"]}>
      <div className={css["bar"]}>{opener}</div>
      <div className={css["words"]} role="alert">
        <h1>{isMissing ? words.chat.notFound : words.chat.readFailed}</h1>
        <p>{isMissing ? words.chat.notFoundText : (refused?.problem.message ?? words.common.notReached)}</p>
        {isMissing ? <Link href="/">{words.shell.toChats}</Link> : <Button onClick={onRetry}>{words.common.tryAgain}</Button>}
      </div>
    </main>
  )
}
