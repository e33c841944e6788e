import type { ReactNode } from "react"

export interface TreeItem {
  id: string
  name: string
  isFolder?: boolean | undefined
  /** Of a folder; undefined while they are not known. */
  items?: readonly TreeItem[] | undefined
  /** Beside the name: a size, a state. */
  end?: ReactNode
}

export interface TreeRow {
  item: TreeItem
  parent: string | null
  level: number
  place: number
  siblings: number
  isOpen: boolean
}

/** What is seen of a tree, from top to bottom. */
export function treeRows(items: readonly TreeItem[], open: ReadonlySet<string>, parent: string | null = null, level = 1): TreeRow[] {
  return items.flatMap((item, place) => {
    const isOpen = item.isFolder === true && open.has(item.id)
    const row = { item, parent, level, place: place + 1, siblings: items.length, isOpen }
    return isOpen && item.items ? [row, ...treeRows(item.items, open, item.id, level + 1)] : [row]
  })
}

/** The row that a key leads to; null where it leads nowhere. */
export function rowAfterKey(key: string, rows: readonly TreeRow[], from: number): TreeRow | null {
  const row = rows[from]
  if (!row) return null
  if (key === "ArrowDown") return rows[from + 1] ?? null
  if (key === "ArrowUp") return rows[from - 1] ?? null
  if (key === "Home") return rows[0] ?? null
  if (key === "End") return rows.at(-1) ?? null
  if (key === "ArrowRight" && row.isOpen) return rows[from + 1]?.parent === row.item.id ? (rows[from + 1] ?? null) : null
  if (key === "ArrowLeft" && !row.isOpen) return rows.find((other) => other.item.id === row.parent) ?? null
  return null
}
