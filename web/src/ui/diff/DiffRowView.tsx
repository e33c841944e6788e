import { ChevronRight } from "lucide-react"
import { memo, useMemo } from "react"
import { words } from "../../words"
import { classes } from "../classes"
import { CodeLine } from "../code/CodeLine"
import { languageOfFile } from "../code/languages"
import { useLexers } from "../code/use_coloured"
import { Icon } from "../Icon"
import { Badge } from "../status/Badge"
import { changedWords } from "./changed_words"
import { colouredLine, markedParts } from "./coloured_hunk"
import { isChosen } from "./commented"
import css from "./DiffRowView.module.css"
import { DiffStat } from "./DiffStat"
import type { DiffFile, Hunk } from "./parse"
import type { Cell, DiffRow, Side } from "./rows"
import type { Commenting } from "./use_commenting"

interface RowProps {
  row: DiffRow
  place: number
  /** Null where nothing can be commented. */
  commenting: Commenting | null
  onToggle: (path: string) => void
}

export function DiffRowView({ row, place, commenting, onToggle }: RowProps) {
  switch (row.kind) {
    case "file":
      return <FileHead file={row.file} isOpen={row.isOpen} onToggle={onToggle} />
    case "gap":
      return (
        <div className={css["gap"]}>
          <span aria-hidden>⋯</span> {row.hunk.heading}
        </div>
      )
    case "note":
      return <p className={css["note"]}>{row.text}</p>
    case "nothing":
      return <p className={css["note"]}>{row.file.isBinary ? words.ui.diff.binary : words.ui.diff.nothing}</p>
    case "line":
      return <Line {...{ row, place, commenting }} cell={row.cell} side={row.cell.line.kind === "removed" ? "old" : "new"} hasBoth />
    case "pair":
      return (
        <div className={css["pair"]}>
          <Line {...{ row, place, commenting }} cell={row.left} side="old" />
          <Line {...{ row, place, commenting }} cell={row.right} side="new" />
        </div>
      )
  }
}

function FileHead({ file, isOpen, onToggle }: { file: DiffFile; isOpen: boolean; onToggle: (path: string) => void }) {
  return (
    <button type="button" className={css["file"]} aria-expanded={isOpen} onClick={() => onToggle(file.path)}>
      <Icon of={ChevronRight} size={12} className={classes(css["chevron"], isOpen && css["turned"])} />
      <span className={css["path"]}>{file.oldPath === null ? file.path : words.ui.diff.renamed(file.oldPath, file.path)}</span>
      {file.change !== "modified" && <Badge>{words.ui.diff.change[file.change]}</Badge>}
      {!file.isBinary && <DiffStat additions={file.additions} deletions={file.deletions} />}
    </button>
  )
}

interface LineProps {
  row: { file: DiffFile; hunk: Hunk }
  place: number
  cell: Cell | null
  side: Side
  commenting: Commenting | null
  /** Both numbers stand in front, as in one column. */
  hasBoth?: boolean
}

function Line({ row, place, cell, side, commenting, hasBoth = false }: LineProps) {
  if (!cell) return <div className={classes(css["line"], css["absent"])} />
  const { line } = cell
  const chosen = commenting?.chosen ?? null
  const isIn = isChosen(chosen, place, hasBoth ? (chosen?.side ?? side) : side)
  return (
    <div className={classes(css["line"], css[line.kind], isIn && css["chosen"])} onPointerEnter={() => commenting?.enter(place, side)}>
      <Numbers {...{ cell, side, place, commenting, hasBoth }} />
      <span className={css["sign"]}>{line.kind === "added" ? "+" : line.kind === "removed" ? "−" : " "}</span>
      <span className={css["code"]}>
        <Code hunk={row.hunk} cell={cell} path={row.file.path} />
        {line.hasNoNewline && <span className={css["end"]}> {words.ui.diff.noNewline}</span>}
      </span>
    </div>
  )
}

type NumbersProps = Pick<LineProps, "side" | "place" | "commenting"> & { cell: Cell; hasBoth: boolean }

function Numbers({ cell: { line }, side, place, commenting, hasBoth }: NumbersProps) {
  const shown = hasBoth ? [line.oldNumber, line.newNumber] : [side === "old" ? line.oldNumber : line.newNumber]
  const drawn = shown.map((number, column) => (
    <span key={column} className={css["number"]} data-number={number ?? ""} />
  ))
  if (!commenting) return <span className={css["numbers"]}>{drawn}</span>
  const isCurrent = commenting.current?.row === place && commenting.current.side === side
  const name = side === "old" ? words.ui.diff.oldLine(line.oldNumber ?? 0) : words.ui.diff.line(line.newNumber ?? 0)
  return (
    <button
      type="button"
      className={classes(css["numbers"], css["pressable"])}
      aria-label={words.ui.diff.commentOn(name)}
      tabIndex={isCurrent ? 0 : -1}
      data-place={`${place}.${side}`}
      onPointerDown={(event) => commenting.press(event, place, side)}
      onClick={(event) => commenting.click(place, side, event.shiftKey)}
      onKeyDown={(event) => commenting.key(event, place, side)}
    >
      {drawn}
    </button>
  )
}

const Code = memo(function Code({ hunk, cell: { line, twin }, path }: { hunk: Hunk; cell: Cell; path: string }) {
  const language = languageOfFile(path)
  const colour = useLexers(language !== undefined)
  const parts = useMemo(() => {
    const isOld = line.kind === "removed"
    const changed = twin ? changedWords(isOld ? line.text : twin.text, isOld ? twin.text : line.text) : null
    return markedParts(colouredLine(hunk, line, language, colour), (isOld ? changed?.old : changed?.new) ?? [])
  }, [hunk, line, twin, language, colour])
  return parts.map((part, place) =>
    part.isChanged ? (
      <mark key={place} className={css["changed"]}>
        <CodeLine line={part.line} />
      </mark>
    ) : (
      <CodeLine key={place} line={part.line} />
    ),
  )
})
