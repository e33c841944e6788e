import { words } from "../../words"
import { classes } from "../classes"
import { DiffStat } from "./DiffStat"
import css from "./FileList.module.css"
import type { Change } from "./parse"

export interface ListedFile {
  path: string
  change: Change
  additions: number
  deletions: number
  isBinary?: boolean | undefined
}

export interface FileListProps {
  files: readonly ListedFile[]
  selected?: string | null | undefined
  onSelect: (path: string) => void
}

const letters: Record<Change, string> = { added: "A", deleted: "D", renamed: "R", copied: "C", modified: "M" }

/** The files of a diff, with what has happened to each. */
export function FileList({ files, selected = null, onSelect }: FileListProps) {
  return (
    <ul aria-label={words.ui.diff.files} className={css["list"]}>
      {files.map((file) => (
        <li key={file.path}>
          <button
            type="button"
            className={classes(css["file"], file.path === selected && css["selected"])}
            aria-current={file.path === selected || undefined}
            title={file.path}
            onClick={() => onSelect(file.path)}
          >
            <span aria-hidden className={classes(css["letter"], css[file.change])}>
              {letters[file.change]}
            </span>
            <span className="unseen">{words.ui.diff.change[file.change]} </span>
            <span className={css["path"]}>
              <span className={css["folder"]}>{folderOf(file.path)}</span>
              <span className={css["name"]}>{file.path.slice(folderOf(file.path).length)}</span>
            </span>
            {!file.isBinary && <DiffStat additions={file.additions} deletions={file.deletions} />}
          </button>
        </li>
      ))}
    </ul>
  )
}

function folderOf(path: string): string {
  return path.slice(0, path.lastIndexOf("/") + 1)
}
