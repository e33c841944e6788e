/** What came of a command, as `execute` and `process_output` tell it (`process_results.py`). */
import { isFields, numberOf, textOf } from "../../chat/guards"

export interface ProcessResult {
  readonly output: string
  /** null: there is none. */
  readonly exitCode: number | null
  readonly signal: string
  readonly milliseconds: number | null
  readonly processId: string
  readonly isRunning: boolean
  readonly isInBackground: boolean
  readonly command: string
  readonly omitted: { readonly bytes: number; readonly of: number } | null
}

const NO_EXIT_CODE = -1

export function processResult(result: unknown): ProcessResult {
  const fields = isFields(result) ? result : {}
  const code = numberOf(fields, "exit_code")
  const milliseconds = numberOf(fields, "wall_duration_ms")
  const omitted = numberOf(fields["truncated"], "omitted_bytes")
  const isInBackground = fields["backgrounded"] === true
  const isRunning = fields["running"] === true
  return {
    output: textOf(fields, "output"),
    exitCode: code === NO_EXIT_CODE || isRunning || isInBackground ? null : code,
    signal: textOf(fields, "signal"),
    milliseconds: milliseconds === 0 ? null : milliseconds,
    processId: textOf(fields, "background_process_id"),
    isRunning,
    isInBackground,
    command: textOf(fields, "command"),
    omitted: omitted === null ? null : { bytes: omitted, of: numberOf(fields["truncated"], "original_bytes") ?? omitted },
  }
}

/** What only leads over to the next line. */
const joint = /[\s\\&|;]+$/

/** A command on one line: its first one, and a sign that there is more of it. */
export function shortCommand(command: string, most = 200): string {
  const [first = "", ...more] = command.trim().split("\n")
  if (first.length > most) return `${first.slice(0, most)}…`
  return more.length > 0 ? `${first.replace(joint, "")} …` : first
}

/** Ids are long; people tell them apart by how they begin. */
export function shortId(id: string): string {
  return id.length > 12 ? id.slice(0, 8) : id
}
