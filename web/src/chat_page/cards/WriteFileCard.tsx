import { FilePlus } from "lucide-react"
import { useMemo } from "react"
import { isFields, textOf } from "../../chat/guards"
import { words } from "../../words"
import { CardDiff } from "./CardDiff"
import { CardLine, type CardProps } from "./CardLine"
import { PathName } from "./Code"
import { writtenFile } from "./made_diff"

/** A file that is written whole. A new one is all additions; of one that was there before, only the new content is known. */
export function WriteFileCard({ call, opened }: CardProps) {
  const path = textOf(call.args, "path")
  const content = textOf(call.args, "content")
  const isNew = isFields(call.result) && call.result["created"] === true
  const isOld = isFields(call.result) && call.result["created"] === false
  const files = useMemo(() => [writtenFile(path, content, isNew, isOld ? [words.cards.replaced] : [])], [path, content, isNew, isOld])
  const lines = files[0]?.additions ?? 0
  const isShown = call.state !== "failed" && call.state !== "interrupted" && lines > 0
  return (
    <CardLine
      {...{ call, opened }}
      icon={FilePlus}
      verbs={words.cards.writeFile}
      object={path === "" ? words.cards.aFile : <PathName path={path} />}
      facts={[
        isNew && words.cards.created,
        call.state === "done" && (lines > 0 ? words.cards.lineCount(lines) : words.cards.empty),
      ]}
    >
      {isShown && <CardDiff files={files} hasFileNames={false} label={words.cards.changesTo(path)} />}
    </CardLine>
  )
}
