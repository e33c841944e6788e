import { FileText } from "lucide-react"
import { isFields, numberOf, textOf } from "../../chat/guards"
import { CodeBlock } from "../../ui/code/CodeBlock"
import { words } from "../../words"
import css from "./card.module.css"
import { CardLine, type CardProps } from "./CardLine"
import { PathName } from "./Code"
import { type FileLines, fileLines } from "./file_lines"

/** A file, or some of its lines. */
export function ReadFileCard({ call, opened }: CardProps) {
  const path = textOf(call.args, "path")
  const lines = fileLines(call.result)
  return (
    <CardLine
      {...{ call, opened }}
      icon={FileText}
      verbs={words.cards.readFile}
      object={path === "" ? words.cards.aFile : <PathName path={path} />}
      facts={lines ? [rangeText(lines)] : [asked(call.args)]}
    >
      {lines && <Lines path={path} lines={lines} isLossy={isFields(call.result) && call.result["lossy"] === true} />}
    </CardLine>
  )
}

function Lines({ path, lines, isLossy }: { path: string; lines: FileLines; isLossy: boolean }) {
  if (lines.count === 0) return <p className={css["note"]}>{words.cards.emptyFile}</p>
  return (
    <>
      <CodeBlock code={lines.code} fileName={path} firstLine={lines.first} isBounded />
      {isLossy && <p className={css["note"]}>{words.cards.lossy}</p>}
    </>
  )
}

/** All of a file has a length, a part of it has places. */
function rangeText({ first, count, total, hasMore }: FileLines): string {
  const last = first + count - 1
  if (count === 0 || (first === 1 && !hasMore)) return words.cards.lineCount(count)
  return total === null ? words.cards.lines(first, last) : words.cards.linesOf(first, last, total)
}

function asked(args: unknown): string | null {
  const first = numberOf(args, "offset")
  const limit = numberOf(args, "limit")
  return first !== null && limit !== null ? words.cards.lines(first, first + limit - 1) : null
}
