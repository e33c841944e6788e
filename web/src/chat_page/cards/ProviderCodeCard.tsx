import { SquareCode } from "lucide-react"
import { isFields, textOf } from "../../chat/guards"
import { CodeBlock } from "../../ui/code/CodeBlock"
import { OutputBox } from "../../ui/code/OutputBox"
import { words } from "../../words"
import { CardLine, type CardProps } from "./CardLine"
import { fieldsIn } from "./lists"
import { ValueTree } from "./ValueTree"

/** Code that the provider has run on a machine of its own. */
export function ProviderCodeCard({ call, opened }: CardProps) {
  const code = textOf(call.args, "code") || textOf(call.args, "command")
  const said = saidBy(call.result)
  return (
    <CardLine {...{ call, opened }} icon={SquareCode} verbs={words.cards.runCode}>
      {code !== "" && (
        <>
          <CodeBlock code={code} language={textOf(call.args, "language").toLowerCase() || "python"} isStreaming={call.state === "writing"} isBounded />
          {said !== null ? (
            <OutputBox text={said} label={words.cards.output(words.cards.code)} />
          ) : (
            call.result !== undefined && <ValueTree value={call.result} label={words.cards.result} />
          )}
        </>
      )}
    </CardLine>
  )
}

/** `stdout` and `stderr`, `output`, or a list of logs; null where it is something else. */
function saidBy(result: unknown): string | null {
  if (!isFields(result)) return null
  const streams = ["stdout", "stderr", "output"].map((name) => textOf(result, name)).filter(Boolean)
  if (streams.length > 0) return streams.join("\n")
  const logs = fieldsIn(result, "outputs").filter((output) => output["type"] === "logs")
  if (logs.length > 0) return logs.map((output) => textOf(output, "logs")).join("\n")
  return "stdout" in result ? "" : null
}
