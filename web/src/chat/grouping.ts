/** Blocks into rows: texts stand alone, calls and thoughts between them go into one. */
import { type CallBlock, summaryTool } from "./calls"
import { numberOf, textOf } from "./guards"
import type { Block, ReasoningRow, Row, Step, StepsRow, SummaryRow } from "./row_kinds"

type Run = StepsRow | ReasoningRow

export function isRun(row: Row | undefined): row is Run {
  return row?.kind === "steps" || row?.kind === "reasoning"
}

export function isStep(block: Block | undefined): boolean {
  return block?.kind === "reasoning" || (block?.kind === "call" && block.name !== summaryTool)
}

/** `before` is the run that the first blocks go on with; its row is made anew. */
export function grouped(blocks: readonly Block[], before: Run | null = null): Row[] {
  const rows: Row[] = []
  let steps: Step[] = before ? [...stepsOf(before)] : []
  const close = () => {
    if (steps.length > 0) rows.push(run(steps))
    steps = []
  }
  for (const block of blocks) {
    const row = block.kind === "call" && block.name === summaryTool ? summaryRow(block) : block
    if (row.kind === "call" || row.kind === "reasoning") steps.push(row)
    else {
      close()
      rows.push(row)
    }
  }
  close()
  return rows
}

function stepsOf(row: Run): readonly Step[] {
  return row.kind === "steps" ? row.steps : row.thoughts
}

const runs = new WeakMap<Step, Run>()

/** The same row while its steps are the same. */
function run(steps: readonly Step[]): Run {
  const [first] = steps
  const known = first && runs.get(first)
  if (known && isSame(stepsOf(known), steps)) return known
  const row = newRun(steps)
  if (first) runs.set(first, row)
  return row
}

function isSame(one: readonly Step[], other: readonly Step[]): boolean {
  return one.length === other.length && one.every((step, place) => step === other[place])
}

function newRun(steps: readonly Step[]): Run {
  const key = steps[0]?.key ?? ""
  const thoughts = steps.filter((step) => step.kind === "reasoning")
  if (thoughts.length === steps.length) return { kind: "reasoning", key, thoughts }
  return {
    kind: "steps",
    key,
    steps,
    isRunning: steps.some((step) => (step.kind === "call" ? step.state === "writing" || step.state === "running" : step.isStreaming)),
    failed: steps.filter((step) => step.kind === "call" && step.state === "failed").length,
    startedAt: steps.find((step) => step.startedAt !== null)?.startedAt ?? null,
    endedAt: steps.findLast((step) => step.endedAt !== null)?.endedAt ?? null,
  }
}

const summaries = new WeakMap<CallBlock, SummaryRow>()

function summaryRow(call: CallBlock): SummaryRow {
  const known = summaries.get(call)
  if (known) return known
  const row: SummaryRow = {
    kind: "summary",
    key: call.key,
    state: call.state,
    summary: textOf(call.result, "summary"),
    isManual: (textOf(call.result, "source") || textOf(call.args, "source")) === "manual",
    percent: numberOf(call.result, "usage_percent"),
    error: call.error,
    call,
  }
  summaries.set(call, row)
  return row
}
