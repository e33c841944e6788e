import { type ReactNode, useEffect, useState } from "react"
import type { ChatError } from "../api/schema"
import { serverNow } from "../api/server_clock"
import type { LiveStatus, OpenedChat } from "../chat"
import { Button } from "../ui/buttons/Button"
import { Banner } from "../ui/status/Banner"
import { Spinner } from "../ui/status/Spinner"
import { words } from "../words"
import row from "./rows/row.module.css"

/** Attempts that the server makes at most: `core/retry.py`. */
const ATTEMPTS = 25

/** What is going on with the turn, below its last row. */
export function StatusLine({ status, opened, isMine }: { status: LiveStatus; opened: OpenedChat; isMine: boolean }) {
  const said = lineOf(status, opened, isMine)
  return said && <div className={row["row"]}>{said}</div>
}

function lineOf(status: LiveStatus, opened: OpenedChat, isMine: boolean): ReactNode {
  const text = words.chat
  switch (status.phase) {
    case "idle":
    case "streaming":
      return null
    case "starting":
      return <Spinner text={text.thinking} />
    case "interrupting":
      return <Spinner text={text.interrupting} />
    case "queued":
      return <Banner title={text.queuedForCapacity} />
    case "needs_you":
      return <Banner title={text.needsYou} />
    case "reconnecting":
      return (
        <Seconds until={status.until} by={Date.now}>
          {(left) => (
            <Banner
              kind="warn"
              isAnnounced={false}
              title={left > 0 ? text.reconnectingIn(left) : text.reconnecting}
              actions={
                <Button size="small" onClick={() => opened.retry()}>
                  {words.common.tryAgain}
                </Button>
              }
            />
          )}
        </Seconds>
      )
    case "retrying": {
      const { error, retrying_at, attempt } = status.retry
      return (
        <Seconds until={Date.parse(retrying_at)} by={serverNow}>
          {(left) => (
            <Banner
              kind="warn"
              isAnnounced={false}
              title={error}
              text={left > 0 ? text.retry.next(left, attempt, ATTEMPTS) : text.retry.now(attempt, ATTEMPTS)}
            />
          )}
        </Seconds>
      )
    }
    case "failed":
      return status.error && <Failure error={status.error} opened={opened} isMine={isMine} />
  }
}

function Failure({ error, opened, isMine }: { error: ChatError; opened: OpenedChat; isMine: boolean }) {
  const text = words.chat
  const kind = error.kind ?? "generic"
  return (
    <Banner
      kind="error"
      title={text.errors[kind] ?? text.errors["generic"]}
      text={
        <>
          <p>{error.message}</p>
          <p>{text.errorHints[kind] ?? text.errorHints["generic"]}</p>
          {error.detail && (
            <p className={row["mono"]}>
              {error.status_code ? `${error.status_code}: ` : ""}
              {error.detail}
            </p>
          )}
        </>
      }
      actions={
        isMine && (
          <Button size="small" onClick={() => opened.actions.send([{ type: "text", text: text.goOn }])}>
            {text.tryTurnAgain}
          </Button>
        )
      }
    />
  )
}

/** Counts down to a moment by the clock that it was told by, so that a tab which slept is right at once. */
function Seconds({ until, by, children }: { until: number | null; by: () => number; children: (left: number) => ReactNode }) {
  const [now, setNow] = useState(by)
  useEffect(() => {
    if (until === null) return
    setNow(by())
    const timer = setInterval(() => setNow(by()), 250)
    return () => clearInterval(timer)
  }, [until, by])
  return children(until === null ? 0 : Math.max(0, Math.ceil((until - now) / 1000)))
}
