import { ListTree } from "lucide-react"
import { isFields, numberOf, textOf } from "../../chat/guards"
import { type Column, Table } from "../../ui/layout/Table"
import { RelativeTime } from "../../ui/values/RelativeTime"
import { words } from "../../words"
import css from "./card.module.css"
import { CardLine, type CardProps } from "./CardLine"
import { Code } from "./Code"
import { fieldsIn } from "./lists"
import { shortCommand, shortId } from "./process_result"

interface Process {
  readonly id: string
  readonly command: string
  readonly state: string
  readonly startedAt: number | null
}

/** The commands that the agent of a workspace knows of. */
export function ProcessListCard({ call, opened }: CardProps) {
  const isTold = isFields(call.result) && Array.isArray(call.result["processes"])
  const processes = fieldsIn(call.result, "processes").map(processOf)
  return (
    <CardLine {...{ call, opened }} icon={ListTree} verbs={words.cards.processList} facts={isTold ? [words.cards.processCount(processes.length)] : []}>
      {processes.length > 0 ? (
        <Table caption={words.cards.processList.done} isCaptionHidden columns={columns} rows={processes} rowKey={(process) => process.id} />
      ) : (
        isTold && <p className={css["note"]}>{words.cards.noProcesses}</p>
      )}
    </CardLine>
  )
}

function processOf(fields: unknown): Process {
  const started = numberOf(fields, "started_at_unix")
  return {
    id: textOf(fields, "id"),
    command: textOf(fields, "command"),
    state: stateText(textOf(fields, "state"), numberOf(fields, "exit_code")),
    startedAt: started === null ? null : started * 1000,
  }
}

function stateText(state: string, code: number | null): string {
  const { running, exited, unknown } = words.cards.processStates
  return state === "running" ? running : state === "exited" ? exited(code) : unknown
}

const heads = words.cards.processColumns

const columns: readonly Column<Process>[] = [
  { key: "command", header: heads.command, isMain: true, cell: ({ command }) => <Code title={command}>{shortCommand(command)}</Code> },
  { key: "state", header: heads.state, cell: ({ state }) => state },
  { key: "since", header: heads.since, cell: ({ startedAt }) => startedAt !== null && <RelativeTime at={startedAt} /> },
  { key: "id", header: heads.id, cell: ({ id }) => <Code title={id}>{shortId(id)}</Code> },
]
