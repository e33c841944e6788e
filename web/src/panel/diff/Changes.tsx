import { Columns2, Rows2 } from "lucide-react"
import { type ReactNode, useRef, useState } from "react"
import { diffLayout, useKept } from "../../browser/kept"
import { addReference, draftOf } from "../../chat"
import { IconButton } from "../../ui/buttons/IconButton"
import { DiffStat } from "../../ui/diff/DiffStat"
import { DiffView, type DiffViewHandle } from "../../ui/diff/DiffView"
import { FileList } from "../../ui/diff/FileList"
import type { DiffFile } from "../../ui/diff/parse"
import type { Side } from "../../ui/diff/rows"
import { toast } from "../../ui/floating/toast"
import { Select } from "../../ui/inputs/Select"
import { Disclosure } from "../../ui/layout/Disclosure"
import { words } from "../../words"
import css from "./Changes.module.css"
import type { Source } from "./sources"

export interface SourceChoice {
  sources: readonly Source[]
  value: string
  onChoose: (value: string) => void
}

export interface ChangesProps {
  chatId: string
  files: readonly DiffFile[]
  notes: readonly string[]
  /** Where the paths begin, where that is known. */
  root: string | null
  choice: SourceChoice
  /** Where the branch is. */
  place: string
  above?: ReactNode
  end?: ReactNode
  empty: ReactNode
}

/** A diff with its files, in one column or two. What is said about lines goes to the message that is being written. */
export function Changes({ chatId, files, notes, root, choice, place, above, end, empty }: ChangesProps) {
  const [layout, setLayout] = useKept(diffLayout)
  const [shown, setShown] = useState<string | null>(null)
  const view = useRef<DiffViewHandle>(null)
  const isSplit = layout === "split"

  function comment(file: string, side: Side, startLine: number, endLine: number, code: string, text: string): void {
    addReference(draftOf(chatId), {
      type: "file-reference",
      file_name: root ? `${root}/${file}` : file,
      start_line: startLine,
      end_line: endLine,
      content: code,
      comment: side === "old" ? words.panel.diff.onRemoved(text) : text,
    })
    toast(words.panel.diff.added, { id: "comment" })
  }

  return (
    <div className={css["changes"]}>
      <div className={css["bar"]}>
        <Select aria-label={words.panel.diff.what} kind="quiet" choices={choice.sources} value={choice.value} onChange={choice.onChoose} className={css["source"]} />
        <span className={css["place"]} title={place}>
          {place}
        </span>
        <IconButton
          name={isSplit ? words.ui.diff.unified : words.ui.diff.split}
          icon={isSplit ? Rows2 : Columns2}
          size="small"
          onClick={() => setLayout(isSplit ? "unified" : "split")}
        />
        {end}
      </div>
      {above}
      {files.length === 0 && notes.length === 0 ? (
        empty
      ) : (
        <>
          <div className={css["files"]}>
            <Disclosure summary={words.panel.diff.files(files.length)} end={<Sum files={files} />} isOpenAtFirst={files.length > 1 && files.length <= 6}>
              <div className={css["list"]}>
                <FileList
                  files={files}
                  selected={shown}
                  onSelect={(path) => {
                    setShown(path)
                    view.current?.show(path)
                  }}
                />
              </div>
            </Disclosure>
          </div>
          <div className={css["view"]}>
            <DiffView ref={view} files={files} notes={notes} layout={layout} height="filling" onComment={comment} onFileShown={setShown} />
          </div>
        </>
      )}
    </div>
  )
}

function Sum({ files }: { files: readonly DiffFile[] }) {
  const sum = (of: "additions" | "deletions") => files.reduce((total, file) => total + file[of], 0)
  return <DiffStat additions={sum("additions")} deletions={sum("deletions")} />
}
