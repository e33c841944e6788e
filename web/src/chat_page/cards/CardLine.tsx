import { CircleStop, CircleX, type LucideIcon } from "lucide-react"
import { Fragment, type ReactNode } from "react"
import { type CallBlock, type CallState, durationMs, type OpenedChat } from "../../chat"
import { Disclosure } from "../../ui/layout/Disclosure"
import { Duration } from "../../ui/values/figures"
import { words } from "../../words"
import type { Verbs } from "../../words/en/cards"
import { useOpenLine } from "../rows/use_open_line"
import css from "./card.module.css"
import { Going } from "./Going"

export interface CardProps {
  call: CallBlock
  opened: OpenedChat
}

export interface CardLineProps extends CardProps {
  icon: LucideIcon
  verbs: Verbs
  /** Where the verb is not that of the state: a command that ran and found something wrong. */
  tense?: keyof Verbs | undefined
  /** In place of verb and object. */
  sentence?: ReactNode
  /** What it is done to. */
  object?: ReactNode
  /** Said at the end, after the time that it took. */
  facts?: readonly ReactNode[] | undefined
  /** Milliseconds; by the clock of the server where it is not given. Shown from a second on, or when it is given. */
  took?: number | null | undefined
  /** How a call that was interrupted ended, where what it began may go on. */
  stopped?: string | undefined
  /** Open as long as nobody has closed it. */
  isOpenByItself?: boolean | undefined
  children?: ReactNode
}

const tenses: Record<CallState, keyof Verbs> = { writing: "doing", running: "doing", interrupted: "doing", done: "done", failed: "failed" }

/** A call on one line: what it does to what, how long it took, how it ended. It opens when there is more to see. */
export function CardLine(props: CardLineProps) {
  const { call, opened, icon, verbs, tense = tenses[call.state], sentence, object, isOpenByItself = false, children } = props
  const [chosen, choose] = useOpenLine(opened, call.key)
  const reason = call.state === "failed" ? firstLine(call.error) : ""
  const body = bodyOf(call, children)
  // What opened by itself closes by itself, unless somebody is at it.
  const stay = chosen === null && isOpenByItself ? () => choose(true) : undefined
  return (
    <div data-tool={call.name} data-state={call.state}>
      <Disclosure
        icon={call.state === "failed" ? CircleX : call.state === "interrupted" ? CircleStop : icon}
        tone={call.state === "failed" ? "error" : call.state === "interrupted" ? "muted" : "plain"}
        summary={
          <>
            {sentence ?? (
              <>
                {verbs[tense]}
                {object && " "}
                {reason ? <span className={css["object"]}>{object}</span> : object}
              </>
            )}
            {reason && <span className={css["reason"]}>{words.cards.because(reason)}</span>}
          </>
        }
        end={<End {...props} />}
        isOpen={chosen ?? isOpenByItself}
        onOpenChange={choose}
      >
        {body && (
          <div className={css["body"]} onPointerDown={stay} onFocus={stay} onWheel={stay}>
            {body}
          </div>
        )}
      </Disclosure>
    </div>
  )
}

function bodyOf(call: CallBlock, children: ReactNode): ReactNode {
  const hasChildren = children !== undefined && children !== null && children !== false
  const error = call.state === "failed" || call.state === "interrupted" ? call.error : ""
  if (!hasChildren && error === "" && !call.isRewritten) return null
  return (
    <>
      {call.isRewritten && <p className={css["note"]}>{words.cards.rewritten}</p>}
      {error && <p className={call.state === "failed" ? css["problem"] : css["note"]}>{error}</p>}
      {children}
    </>
  )
}

/** The end of the line. */
function End({ call, facts = [], took, stopped = words.cards.stopped }: CardLineProps) {
  if (call.state === "writing" || call.state === "running") return <Going since={call.startedAt} />
  const shown = took === undefined ? longOnes(durationMs(call.startedAt, call.endedAt)) : took
  const said: ReactNode[] = [
    ...(shown === null ? [] : [<Duration key="took" milliseconds={shown} />]),
    ...facts.filter(Boolean),
    ...(call.state === "interrupted" ? [stopped] : []),
  ]
  if (said.length === 0) return null
  return said.map((fact, place) => (
    <Fragment key={place}>
      {place > 0 && words.cards.and}
      {fact}
    </Fragment>
  ))
}

/** That something took a moment goes without saying. */
function longOnes(milliseconds: number | null): number | null {
  return milliseconds !== null && milliseconds >= 1000 ? milliseconds : null
}

function firstLine(text: string): string {
  return text.trim().split("\n", 1)[0] ?? ""
}
