import { ChevronRight, File, Folder, FolderOpen } from "lucide-react"
import { type KeyboardEvent, useRef, useState } from "react"
import { words } from "../../words"
import { classes } from "../classes"
import { Icon } from "../Icon"
import css from "./Tree.module.css"
import { rowAfterKey, type TreeItem, type TreeRow, treeRows } from "./tree_rows"

export interface TreeProps {
  label: string
  items: readonly TreeItem[]
  /** Ids of the folders that are open. */
  open: ReadonlySet<string>
  onToggle: (item: TreeItem, isOpen: boolean) => void
  selected: string | null
  onSelect: (item: TreeItem) => void
}

/** Files and folders. Arrows walk, right and left open and close, letters find. */
export function Tree({ label, items, open, onToggle, selected, onSelect }: TreeProps) {
  const rows = treeRows(items, open)
  const [current, setCurrent] = useState<string | null>(null)
  const tree = useRef<HTMLDivElement>(null)
  const focusable = rows.some((row) => row.item.id === current) ? current : (rows.find((row) => row.item.id === selected) ?? rows[0])?.item.id

  function goTo(row: TreeRow): void {
    setCurrent(row.item.id)
    tree.current?.querySelector<HTMLElement>(`[data-id="${CSS.escape(row.item.id)}"]`)?.focus()
  }

  function act(row: TreeRow): void {
    setCurrent(row.item.id)
    if (row.item.isFolder) onToggle(row.item, !row.isOpen)
    else onSelect(row.item)
  }

  function press(event: KeyboardEvent, row: TreeRow): void {
    const from = rows.indexOf(row)
    const next = rowAfterKey(event.key, rows, from) ?? found(event, rows, from)
    if (next) goTo(next)
    else if (event.key === "Enter" || event.key === " ") act(row)
    else if (event.key === "ArrowRight" && row.item.isFolder && !row.isOpen) onToggle(row.item, true)
    else if (event.key === "ArrowLeft" && row.isOpen) onToggle(row.item, false)
    else return
    event.preventDefault()
  }

  return (
    <div ref={tree} role="tree" aria-label={label} className={css["tree"]}>
      {rows.map((row) => (
        <div
          key={row.item.id}
          role="treeitem"
          data-id={row.item.id}
          aria-level={row.level}
          aria-posinset={row.place}
          aria-setsize={row.siblings}
          aria-expanded={row.item.isFolder ? row.isOpen : undefined}
          aria-selected={row.item.id === selected}
          tabIndex={row.item.id === focusable ? 0 : -1}
          className={classes(css["row"], row.item.id === selected && css["selected"])}
          style={{ "--level": row.level }}
          onClick={() => act(row)}
          onKeyDown={(event) => press(event, row)}
        >
          <RowContents row={row} />
        </div>
      ))}
    </div>
  )
}

function RowContents({ row: { item, isOpen } }: { row: TreeRow }) {
  return (
    <>
      {item.isFolder && <Icon of={ChevronRight} size={12} className={classes(css["chevron"], isOpen && css["turned"])} />}
      {!item.isFolder && <span className={css["gap"]} />}
      <Icon of={item.isFolder ? (isOpen ? FolderOpen : Folder) : File} className={css["icon"]} />
      <span className={css["name"]}>{item.name}</span>
      {isOpen && item.items === undefined && <span className={css["end"]}>{words.common.loading}</span>}
      {item.end && <span className={css["end"]}>{item.end}</span>}
    </>
  )
}

function found(event: KeyboardEvent, rows: readonly TreeRow[], from: number): TreeRow | null {
  if (event.key.length !== 1 || event.key === " " || event.ctrlKey || event.metaKey || event.altKey) return null
  const after = [...rows.slice(from + 1), ...rows.slice(0, from)]
  return after.find((row) => row.item.name.toLowerCase().startsWith(event.key.toLowerCase())) ?? null
}
