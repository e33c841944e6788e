import { FilePen } from "lucide-react"
import { type ReactNode, useMemo } from "react"
import type { CallBlock } from "../../chat"
import { textOf } from "../../chat/guards"
import { DiffStat } from "../../ui/diff/DiffStat"
import { type DiffFile, parseDiff } from "../../ui/diff/parse"
import { words } from "../../words"
import css from "./card.module.css"
import { CardDiff } from "./CardDiff"
import { CardLine, type CardProps } from "./CardLine"
import { PathName } from "./Code"
import { fieldsIn } from "./lists"
import { askedEdits } from "./made_diff"

/** Edits of files: what was done, or what is asked for while it is not done. Of edits that failed nothing is shown, because nothing was changed. */
export function EditFilesCard({ call, opened }: CardProps) {
  const files = useMemo(() => changedFiles(call), [call])
  const paths = [...new Set([...fieldsIn(call.args, "files").map((file) => textOf(file, "path")), ...files.map((file) => file.path)])].filter(Boolean)
  const isDone = call.state === "done"
  const sum = (field: "additions" | "deletions") => files.reduce((total, file) => total + file[field], 0)
  const hasLines = files.some((file) => file.hunks.length > 0)
  return (
    <CardLine
      {...{ call, opened }}
      icon={FilePen}
      verbs={words.cards.editFiles}
      object={objectOf(paths)}
      facts={[isDone && hasLines && <DiffStat additions={sum("additions")} deletions={sum("deletions")} />]}
    >
      {hasLines ? (
        <CardDiff files={files} hasFileNames={files.length > 1} label={words.cards.changesTo(paths.join(", "))} />
      ) : (
        isDone && <p className={css["note"]}>{words.cards.unchanged}</p>
      )}
    </CardLine>
  )
}

function objectOf(paths: readonly string[]): ReactNode {
  const [first, ...more] = paths
  if (first === undefined) return words.cards.aFile
  return more.length > 0 ? words.cards.files(paths.length) : <PathName path={first} />
}

/** A diff of the result is what happened, one of the arguments what was meant. */
function changedFiles(call: CallBlock): DiffFile[] {
  if (call.state === "failed" || call.state === "interrupted") return []
  const told = fieldsIn(call.result, "files")
  if (told.length === 0) return askedEdits(call.args)
  return told.flatMap((file) => parseDiff(textOf(file, "diff")).files.map((one) => ({ ...one, path: textOf(file, "path") || one.path })))
}
