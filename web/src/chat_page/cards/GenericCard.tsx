import { CircleUserRound, Plug, Wrench } from "lucide-react"
import { useStore } from "zustand"
import { type Fields, isFields, textOf } from "../../chat/guards"
import { OutputBox } from "../../ui/code/OutputBox"
import { words } from "../../words"
import css from "./card.module.css"
import { CardLine, type CardProps } from "./CardLine"
import { withGapsMarked } from "./left_out"
import { toolTitle } from "./tool_title"
import { ValueTree } from "./ValueTree"

/** A tool that nobody has made a card for: its name in words, what it was given, what it gave. */
export function GenericCard({ call, opened, note }: CardProps & { note?: string | undefined }) {
  const needsYou = useStore(opened.store, ({ picture }) => picture.action?.some((open) => open.tool_call_id === call.callId) ?? false)
  const { name, server } = toolTitle(call.name)
  const intent = textOf(call.args, "model_intent")
  const isGoing = call.state === "running" && !needsYou
  const given = withoutIntent(call.args)
  return (
    <CardLine
      {...{ call, opened }}
      icon={needsYou ? CircleUserRound : call.mcpServerId || server !== "" ? Plug : Wrench}
      verbs={words.cards.generic}
      sentence={intent || undefined}
      object={
        <>
          {name || words.cards.aTool}
          {server !== "" && (
            <>
              {" "}
              <span className={css["aside"]}>{words.cards.onServer(server)}</span>
            </>
          )}
          {needsYou && (
            <>
              {words.cards.and}
              {words.cards.needsYou}
            </>
          )}
        </>
      }
    >
      {(note || given !== undefined || call.output !== null || call.result !== undefined || needsYou) && (
        <>
          {note && <p className={css["note"]}>{note}</p>}
          {needsYou && <p className={css["note"]}>{words.cards.waitsForClient}</p>}
          {given !== undefined && (
            <section>
              <p className={css["heading"]}>{words.cards.input}</p>
              <ValueTree value={given} label={words.cards.input} />
            </section>
          )}
          {call.output !== null && <OutputBox text={call.output} isRunning={isGoing} />}
          {call.result !== undefined && !isOnlyError(call.result) && (
            <section>
              <p className={css["heading"]}>{words.cards.result}</p>
              <Result value={call.result} />
            </section>
          )}
        </>
      )}
    </CardLine>
  )
}

/** Words alone are shown as such. */
function Result({ value }: { value: unknown }) {
  const text = typeof value === "string" ? value : isFields(value) && Object.keys(value).length === 1 ? textOf(value, "output") : ""
  return text === "" ? <ValueTree value={value} label={words.cards.result} /> : <OutputBox text={withGapsMarked(text)} label={words.cards.result} />
}

function withoutIntent(args: unknown): unknown {
  if (!isFields(args)) return args
  const rest: Fields = Object.fromEntries(Object.entries(args).filter(([name]) => name !== "model_intent"))
  return Object.keys(rest).length === 0 ? undefined : rest
}

/** The line has said it already. */
function isOnlyError(result: unknown): boolean {
  return isFields(result) && Object.keys(result).length === 1 && textOf(result, "error") !== ""
}
