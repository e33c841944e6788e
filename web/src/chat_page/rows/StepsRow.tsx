import { useState } from "react"
import { durationMs, type OpenedChat, type ReasoningRow, type Step, type StepsRow as Row } from "../../chat"
import { durationText } from "../../ui/values/spans"
import { words } from "../../words"
import { LateReadFilesCard, LateToolCard } from "../cards/late_cards"
import { type Line, merged } from "../cards/merged"
import { FoldedLine } from "./FoldedLine"
import { Thought } from "./Thought"

/** Up to this many stand in full; of more, the last ones do, so that the height stays while they come. */
const IN_FULL = 4
const LAST = 2

/** What was thought and done between two texts, one line each. Thoughts become steps when a call follows, so that one component shows both. */
export function StepsRow({ row, opened }: { row: Row | ReasoningRow; opened: OpenedChat }) {
  const lines = merged(row.kind === "steps" ? row.steps : row.thoughts)
  // Where a reader has been at work no line is folded away any more.
  const [held, setHeld] = useState<number | null>(null)
  const folded = held ?? (lines.length > IN_FULL ? lines.length - LAST : 0)
  const hold = () => setHeld(folded)
  return (
    <div>
      {folded > 0 && <Earlier rowKey={row.key} lines={lines.slice(0, folded)} opened={opened} />}
      <div onClick={hold} onKeyDown={hold}>
        <Lines lines={lines.slice(folded)} opened={opened} />
      </div>
    </div>
  )
}

function Earlier({ rowKey, lines, opened }: { rowKey: string; lines: readonly Line[]; opened: OpenedChat }) {
  const steps = lines.flatMap((line): readonly Step[] => (line.kind === "reads" ? line.calls : [line]))
  const failed = steps.filter((step) => step.kind === "call" && step.state === "failed").length
  const started = steps.find((step) => step.startedAt !== null)?.startedAt ?? null
  const took = durationMs(started, steps.findLast((step) => step.endedAt !== null)?.endedAt ?? null)
  return (
    <FoldedLine
      opened={opened}
      lineKey={`${rowKey}.earlier`}
      tone="muted"
      summary={words.chat.earlierSteps(steps.length)}
      end={[failed > 0 && words.chat.failedSteps(failed), took !== null && took >= 1000 && durationText(took)].filter(Boolean).join(words.cards.and)}
    >
      <Lines lines={lines} opened={opened} />
    </FoldedLine>
  )
}

function Lines({ lines, opened }: { lines: readonly Line[]; opened: OpenedChat }) {
  return lines.map((line) => {
    switch (line.kind) {
      case "call":
        return <LateToolCard key={line.key} call={line} opened={opened} />
      case "reads":
        return <LateReadFilesCard key={line.key} reads={line} opened={opened} />
      case "reasoning":
        return <Thought key={line.key} thought={line} opened={opened} />
    }
  })
}
