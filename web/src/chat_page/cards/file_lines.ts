/** A page of a file as `read_file` gives it: each line with its number and a tab in front. */
import { numberOf, textOf } from "../../chat/guards"

export interface FileLines {
  readonly code: string
  readonly first: number
  /** 0 when there are none. */
  readonly count: number
  readonly total: number | null
  readonly hasMore: boolean
}

const numbered = /^ *(\d+)\t(.*)$/

/** null where the result is no such page. */
export function fileLines(result: unknown): FileLines | null {
  const count = numberOf(result, "lines_read")
  if (count === null) return null
  const lines = textOf(result, "content").split("\n")
  if (lines.at(-1) === "") lines.pop()
  const first = numbered.exec(lines[0] ?? "")?.[1]
  return {
    code: lines.map((line) => numbered.exec(line)?.[2] ?? line).join("\n"),
    first: first === undefined ? 1 : Number(first),
    count,
    total: numberOf(result, "total_lines"),
    hasMore: numberOf(result, "next_offset") !== null,
  }
}
