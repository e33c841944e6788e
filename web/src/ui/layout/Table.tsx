import type { ReactNode } from "react"
import { words } from "../../words"
import { classes } from "../classes"
import css from "./Table.module.css"

export interface Column<Row> {
  key: string
  header: string
  cell: (row: Row) => ReactNode
  align?: "start" | "end" | undefined
  /** Names the row: a heading of it, and of its card on a phone. */
  isMain?: boolean | undefined
  isHeaderHidden?: boolean | undefined
}

export interface TableProps<Row> {
  /** What it lists; may be only read aloud. */
  caption: string
  isCaptionHidden?: boolean | undefined
  columns: readonly Column<Row>[]
  rows: readonly Row[]
  rowKey: (row: Row) => string
  /** In place of rows, when there are none. */
  empty?: ReactNode
}

/** Dense rows; on a phone each row is a card. Roles are said aloud because the cards' layout would take them away. */
export function Table<Row>({ caption, isCaptionHidden = false, columns, rows, rowKey, empty = words.ui.empty }: TableProps<Row>) {
  return (
    <table role="table" className={css["table"]}>
      <caption className={isCaptionHidden ? "unseen" : css["caption"]}>{caption}</caption>
      <thead role="rowgroup" className={css["head"]}>
        <tr role="row">
          {columns.map((column) => (
            <th key={column.key} role="columnheader" scope="col" className={classes(column.align === "end" && css["end"])}>
              <span className={classes(column.isHeaderHidden && "unseen")}>{column.header}</span>
            </th>
          ))}
        </tr>
      </thead>
      <tbody role="rowgroup">
        {rows.map((row) => (
          <tr key={rowKey(row)} role="row" className={css["row"]}>
            {columns.map((column) => (
              <Cell key={column.key} column={column} row={row} />
            ))}
          </tr>
        ))}
        {rows.length === 0 && (
          <tr role="row">
            <td role="cell" colSpan={columns.length} className={css["empty"]}>
              {empty}
            </td>
          </tr>
        )}
      </tbody>
    </table>
  )
}

function Cell<Row>({ column, row }: { column: Column<Row>; row: Row }) {
  const className = classes(column.align === "end" && css["end"])
  if (column.isMain)
    return (
      <th role="rowheader" scope="row" className={classes(css["main"], className)}>
        {column.cell(row)}
      </th>
    )
  return (
    <td role="cell" data-label={column.isHeaderHidden ? undefined : column.header} className={className}>
      {column.cell(row)}
    </td>
  )
}
