import { useState } from "react"
import { durationMs, type OpenedChat, type Step, type StepsRow as Row } from "../../chat"
import { Disclosure } from "../../ui/layout/Disclosure"
import { durationText } from "../../ui/values/spans"
import { words } from "../../words"
import { ToolCard } from "../cards/ToolCard"
import { ReasoningRow } from "./ReasoningRow"
import css from "./row.module.css"

/** Up to this many stand in full; of more, the last ones do, so that the height stays while they come. */
const IN_FULL = 4
const LAST = 2

/** What was done between two texts, one line each. */
export function StepsRow({ row, opened }: { row: Row; opened: OpenedChat }) {
  const [isOpen, setOpen] = useState(false)
  const isFolded = row.steps.length > IN_FULL
  const earlier = isFolded ? row.steps.slice(0, -LAST) : []
  const last = isFolded ? row.steps.slice(-LAST) : row.steps
  const took = durationMs(row.startedAt, row.endedAt)
  return (
    <div className={css["list"]}>
      {isFolded && (
        <Disclosure
          tone="muted"
          isOpen={isOpen}
          onOpenChange={setOpen}
          summary={words.chat.earlierSteps(earlier.length)}
          end={
            <>
              {row.failed > 0 && words.chat.failedSteps(row.failed)} {took !== null && durationText(took)}
            </>
          }
        >
          <Steps steps={earlier} opened={opened} />
        </Disclosure>
      )}
      <Steps steps={last} opened={opened} />
    </div>
  )
}

function Steps({ steps, opened }: { steps: readonly Step[]; opened: OpenedChat }) {
  return (
    <div className={css["list"]}>
      {steps.map((step) =>
        step.kind === "call" ? (
          <ToolCard key={step.key} call={step} opened={opened} />
        ) : (
          <ReasoningRow key={step.key} row={{ kind: "reasoning", key: step.key, thoughts: [step] }} />
        ),
      )}
    </div>
  )
}
