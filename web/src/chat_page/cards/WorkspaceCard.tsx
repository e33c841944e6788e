import { useQuery } from "@tanstack/react-query"
import { Box } from "lucide-react"
import { Link } from "wouter"
import { queries } from "../../api/queries"
import type { CallBlock } from "../../chat"
import { tellsInterruption } from "../../chat/calls"
import { isFields, textOf } from "../../chat/guards"
import { words } from "../../words"
import type { Verbs } from "../../words/en/cards"
import { LiveLog, StoredLog } from "./BuildLogBox"
import css from "./card.module.css"
import { CardLine, type CardProps } from "./CardLine"
import { Code } from "./Code"
import { fieldsIn } from "./lists"
import { useLate } from "./use_late"

const verbsOf: Readonly<Record<string, Verbs>> = {
  create_workspace: words.cards.createWorkspace,
  start_workspace: words.cards.startWorkspace,
  stop_workspace: words.cards.stopWorkspace,
}

/** A workspace is made, started or stopped: its build, and what came of it. */
export function WorkspaceCard({ call: told, opened }: CardProps) {
  const call = asInterrupted(told)
  const name = textOf(call.result, "workspace_name") || textOf(call.args, "name")
  const isGoing = call.state === "running"
  const isLong = useLate(isGoing, 1000)
  const wasThere = isFields(call.result) && call.result["created"] === false
  return (
    <CardLine
      {...{ call, opened }}
      icon={Box}
      verbs={wasThere ? words.cards.alreadyThere : (verbsOf[call.name] ?? words.cards.startWorkspace)}
      object={name !== "" && <Code>{name}</Code>}
      facts={[isFields(call.result) && call.result["no_build"] === true && words.cards.noBuild]}
      stopped={textOf(call.result, "build_id") === "" ? undefined : words.cards.stoppedWaiting}
      isOpenByItself={isLong}
    >
      {isGoing && <LiveLog output={call.output} since={call.startedAt} />}
      {call.result !== undefined && <Outcome {...{ call, opened }} />}
    </CardLine>
  )
}

/** A call that was cut tells it as an error of its own: the build goes on, and nothing has failed. */
function asInterrupted(call: CallBlock): CallBlock {
  return call.state === "failed" && tellsInterruption(call.error) ? { ...call, state: "interrupted" } : call
}

function Outcome({ call, opened }: CardProps) {
  const chat = useQuery({ ...queries.chat(opened.chatId), enabled: false }).data
  // A call that was interrupted knows its build only; the workspace is the chat's.
  const workspace = textOf(call.result, "workspace_id") || (chat?.workspace_id ?? "")
  const build = textOf(call.result, "build_id")
  const said = textOf(call.result, "message")
  const detail = textOf(call.result, "detail")
  const wrong = fieldsIn(call.result, "validations")
  return (
    <>
      {said !== "" && <p>{said}</p>}
      {detail !== "" && <p className={css["note"]}>{detail}</p>}
      {wrong.length > 0 && (
        <ul className={css["list"]}>
          {wrong.map((one) => (
            <li key={textOf(one, "field")}>
              <Code>{textOf(one, "field")}</Code> {textOf(one, "detail")}
            </li>
          ))}
        </ul>
      )}
      {workspace !== "" && build !== "" && <StoredLog of={{ workspace, build }} />}
      {workspace !== "" && (
        <p>
          <Link href="/workspaces">{words.cards.openWorkspaces}</Link>
        </p>
      )}
    </>
  )
}
