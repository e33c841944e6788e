import type { ReactNode } from "react"
import { Link, useLocation } from "wouter"
import type { Refused } from "../api/request"
import { draftOf, fromContent, giveBack, type OpenedChat, type Send } from "../chat"
import { Button } from "../ui/buttons/Button"
import { words } from "../words"
import css from "./ChatUnavailable.module.css"
import { OnItsWay } from "./rows/SendRow"
import row from "./rows/row.module.css"

export interface ChatUnavailableProps {
  refused: Refused | null
  opener: ReactNode
  opened: OpenedChat
  /** What was written to it and never arrived. */
  sends: readonly Send[]
}

export function ChatUnavailable({ refused, opener, opened, sends }: ChatUnavailableProps) {
  const isMissing = refused?.status === 404 || refused?.status === 400
  return (
    <main className={css["page"]}>
      <div className={css["bar"]}>{opener}</div>
      <div className={css["middle"]}>
        <div className={css["words"]} role="alert">
          <h1>{isMissing ? words.chat.notFound : words.chat.readFailed}</h1>
          <p>{isMissing ? words.chat.notFoundText : (refused?.problem.message ?? words.common.notReached)}</p>
          {isMissing ? <Link href="/">{words.shell.toChats}</Link> : <Button onClick={() => opened.retry()}>{words.common.tryAgain}</Button>}
        </div>
        {isMissing && sends.map((send) => send.state === "failed" && <LeftSend key={send.key} of={send} opened={opened} />)}
      </div>
    </main>
  )
}

function LeftSend({ of, opened }: { of: Send; opened: OpenedChat }) {
  const [, navigate] = useLocation()
  const takeAlong = () => {
    giveBack(draftOf("new"), fromContent(of.content))
    opened.actions.forgetSend(of.key)
    navigate("/")
  }
  return (
    <OnItsWay content={of.content} state={of.state}>
      <div className={row["state"]}>
        <span className={row["problem"]}>{words.chat.sendFailed}</span>
        <Button size="small" onClick={takeAlong}>
          {words.chat.toNewChat}
        </Button>
        <Button size="small" kind="quiet" onClick={() => opened.actions.forgetSend(of.key)}>
          {words.chat.dismiss}
        </Button>
      </div>
    </OnItsWay>
  )
}
