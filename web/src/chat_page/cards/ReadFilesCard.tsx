import { Files } from "lucide-react"
import { durationMs, type OpenedChat } from "../../chat"
import { Duration } from "../../ui/values/figures"
import { words } from "../../words"
import { FoldedLine } from "../rows/FoldedLine"
import css from "./card.module.css"
import { Going } from "./Going"
import type { Reads } from "./merged"
import { ToolCard } from "./ToolCard"

/** Files that were read one after the other, each with a line of its own inside. */
export function ReadFilesCard({ reads, opened }: { reads: Reads; opened: OpenedChat }) {
  const { calls } = reads
  const isGoing = calls.some((call) => call.state === "writing" || call.state === "running")
  const failed = calls.filter((call) => call.state === "failed").length
  const isStopped = calls.some((call) => call.state === "interrupted")
  const verbs = words.cards.readFile
  const tense = isGoing || isStopped ? "doing" : failed === calls.length ? "failed" : "done"
  return (
    <FoldedLine
      opened={opened}
      lineKey={`${reads.key}.reads`}
      icon={Files}
      tone={failed === calls.length ? "error" : isStopped ? "muted" : "plain"}
      summary={
        <>
          {verbs[tense]} {words.cards.files(calls.length)}
        </>
      }
      end={isGoing ? <Going since={calls[0]?.startedAt ?? null} /> : <End reads={reads} failed={failed} isStopped={isStopped} />}
    >
      <div className={css["list"]}>
        {calls.map((call) => (
          <ToolCard key={call.key} call={call} opened={opened} />
        ))}
      </div>
    </FoldedLine>
  )
}

function End({ reads: { calls }, failed, isStopped }: { reads: Reads; failed: number; isStopped: boolean }) {
  const took = durationMs(calls[0]?.startedAt ?? null, calls.at(-1)?.endedAt ?? null)
  return (
    <>
      {took !== null && took >= 1000 && <Duration milliseconds={took} />}
      {failed > 0 && failed < calls.length && ` ${words.cards.failedCount(failed)}`}
      {isStopped && ` ${words.cards.stopped}`}
    </>
  )
}
