import { Wrench } from "lucide-react"
import type { CallBlock, OpenedChat } from "../../chat"
import { OutputBox } from "../../ui/code/OutputBox"
import { Disclosure } from "../../ui/layout/Disclosure"
import { Spinner } from "../../ui/status/Spinner"

/** A call of a tool, as a line that opens. */
export function ToolCard({ call }: { call: CallBlock; opened: OpenedChat }) {
  const isGoing = call.state === "running" || call.state === "writing"
  return (
    <Disclosure
      icon={Wrench}
      tone={call.state === "failed" ? "error" : "plain"}
      summary={call.name}
      end={isGoing ? <Spinner /> : undefined}
    >
      <OutputBox text={call.output ?? JSON.stringify(call.result ?? call.args, null, 2) ?? ""} isRunning={isGoing} />
    </Disclosure>
  )
}
