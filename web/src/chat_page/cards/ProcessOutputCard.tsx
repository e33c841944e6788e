import { Terminal } from "lucide-react"
import { textOf } from "../../chat/guards"
import { words } from "../../words"
import { CardLine, type CardProps } from "./CardLine"
import { Code } from "./Code"
import { CommandOutput } from "./CommandOutput"
import { processFacts } from "./ExecuteCard"
import { processResult, shortCommand, shortId } from "./process_result"
import { useLate } from "./use_late"

/** A look at a command that was left running. That it goes on is no failure. */
export function ProcessOutputCard({ call, opened }: CardProps) {
  const result = processResult(call.result)
  const id = textOf(call.args, "process_id")
  const isGoing = call.state === "running"
  const isLong = useLate(isGoing && call.output !== null, 1000)
  const hasEnded = result.exitCode !== null || result.signal !== ""
  const name = result.command !== "" ? shortCommand(result.command) : words.cards.process(shortId(id))
  return (
    <CardLine
      {...{ call, opened }}
      icon={Terminal}
      verbs={words.cards.processOutput}
      tense={call.state === "failed" && hasEnded ? "done" : undefined}
      sentence={textOf(call.args, "model_intent") || undefined}
      object={id === "" ? words.cards.aProcess : <Code title={id}>{name}</Code>}
      took={result.milliseconds}
      facts={processFacts({ ...result, processId: "" })}
      stopped={words.cards.stoppedWaiting}
      isOpenByItself={isLong}
    >
      {(isGoing || hasEnded || result.isRunning) && (
        <CommandOutput command={result.command} output={call.output ?? result.output} result={{ ...result, processId: id }} isGoing={isGoing} />
      )}
    </CardLine>
  )
}
