/** Several files that are read in a row are one line. */
import type { CallBlock, Step } from "../../chat"

export interface Reads {
  readonly kind: "reads"
  readonly key: string
  readonly calls: readonly CallBlock[]
}

export type Line = Step | Reads

/** In order. A line has the key of its first step, so that it stays the same one when another file is read. */
export function merged(steps: readonly Step[]): readonly Line[] {
  const lines: Line[] = []
  let run: CallBlock[] = []
  const close = () => {
    const [first] = run
    if (first) lines.push(run.length === 1 ? first : { kind: "reads", key: first.key, calls: run })
    run = []
  }
  for (const step of steps) {
    if (step.kind === "call" && step.name === "read_file") run.push(step)
    else {
      close()
      lines.push(step)
    }
  }
  close()
  return lines
}
