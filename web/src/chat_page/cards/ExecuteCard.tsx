import { Terminal } from "lucide-react"
import type { ReactNode } from "react"
import { isFields, textOf } from "../../chat/guards"
import { words } from "../../words"
import css from "./card.module.css"
import { CardLine, type CardProps } from "./CardLine"
import { Code } from "./Code"
import { CommandOutput } from "./CommandOutput"
import { type ProcessResult, processResult, shortCommand, shortId } from "./process_result"
import { useLate } from "./use_late"

/** A command that says something opens after this long, so that what ends at once moves nothing. */
const OPENS_AFTER = 1000

/** Characters of a command that leave room for why it could not be run. */
const BESIDE_REASON = 32

/** A command: what it says while it runs, and how it ended. */
export function ExecuteCard({ call, opened }: CardProps) {
  const command = textOf(call.args, "command")
  const result = processResult(call.result)
  const isGoing = call.state === "running"
  const isLong = useLate(isGoing && call.output !== null, OPENS_AFTER)
  const isStarted = result.isInBackground || (isFields(call.args) && call.args["run_in_background"] === true)
  const hasRun = result.exitCode !== null || result.signal !== ""
  const isReasonTold = call.state === "failed" && call.error !== ""
  return (
    <CardLine
      {...{ call, opened }}
      icon={Terminal}
      verbs={isStarted ? words.cards.executeInBackground : words.cards.execute}
      tense={call.state === "failed" && hasRun ? "done" : undefined}
      sentence={sentenceOf(textOf(call.args, "model_intent"), command)}
      object={command === "" ? words.cards.aCommand : <Code title={command}>{shortCommand(command, isReasonTold ? BESIDE_REASON : undefined)}</Code>}
      took={result.milliseconds}
      facts={processFacts(result)}
      stopped={result.processId === "" ? undefined : words.cards.stoppedWaiting}
      isOpenByItself={isLong}
    >
      {command !== "" && call.state !== "writing" && (
        <CommandOutput
          command={command}
          output={call.output ?? result.output}
          result={result}
          workdir={textOf(call.args, "workdir")}
          isGoing={isGoing}
          isOutputShown={!result.isInBackground && (hasRun || isGoing || result.output !== "")}
        />
      )}
    </CardLine>
  )
}

/** In the model's words where it has some, with the command beside them. */
function sentenceOf(intent: string, command: string): ReactNode {
  if (intent === "") return undefined
  return (
    <>
      {intent}{" "}
      {command !== "" && (
        <span className={css["aside"]}>
          <Code title={command}>{shortCommand(command)}</Code>
        </span>
      )}
    </>
  )
}

export function processFacts(result: ProcessResult): ReactNode[] {
  const text = words.cards
  return [
    result.isRunning && text.stillRunning,
    result.isInBackground && text.inBackground,
    (result.isRunning || result.isInBackground) && result.processId !== "" && text.process(shortId(result.processId)),
    result.signal !== "" ? text.signal(result.signal) : result.exitCode !== null && text.exit(result.exitCode),
  ]
}
