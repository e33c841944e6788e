import { OctagonX } from "lucide-react"
import { textOf } from "../../chat/guards"
import { words } from "../../words"
import { CardLine, type CardProps } from "./CardLine"
import { Code } from "./Code"
import { shortId } from "./process_result"

/** A command is asked to end, or ended. */
export function ProcessSignalCard({ call, opened }: CardProps) {
  const id = textOf(call.args, "process_id")
  const said = textOf(call.result, "message")
  return (
    <CardLine
      {...{ call, opened }}
      icon={OctagonX}
      verbs={textOf(call.args, "signal") === "kill" ? words.cards.kill : words.cards.terminate}
      object={id === "" ? words.cards.aProcess : <Code title={id}>{words.cards.process(shortId(id))}</Code>}
    >
      {said !== "" && <p>{said}</p>}
    </CardLine>
  )
}
