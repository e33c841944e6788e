import { type Ref, useImperativeHandle, useMemo, useRef, useState } from "react"
import { Virtualizer, type VirtualizerHandle } from "virtua"
import { words } from "../../words"
import { classes } from "../classes"
import { CommentBox } from "./CommentBox"
import { DiffRowView } from "./DiffRowView"
import css from "./DiffView.module.css"
import type { DiffFile } from "./parse"
import { diffRows, type Layout, type Side } from "./rows"
import { useCommenting } from "./use_commenting"

export interface DiffViewHandle {
  /** Brings a file into sight. */
  show: (path: string) => void
}

export interface DiffViewProps {
  files: readonly DiffFile[]
  /** About the whole, below it. */
  notes?: readonly string[] | undefined
  layout?: Layout | undefined
  /** Off where the place already says which file it is. */
  hasFileNames?: boolean | undefined
  /** bounded: a part of a page, scrolls in itself when long. filling: all of its parent. */
  height?: "bounded" | "filling" | undefined
  /** What was said about lines; without it, lines are only shown. */
  onComment?: ((file: string, side: Side, startLine: number, endLine: number, code: string, text: string) => void) | undefined
  /** Which file is at the top, as one scrolls. */
  onFileShown?: ((path: string) => void) | undefined
  label?: string | undefined
  ref?: Ref<DiffViewHandle> | undefined
}

/** Below this, all rows are drawn at once. */
const few = 150

export function DiffView(props: DiffViewProps) {
  const { files, notes, layout = "unified", hasFileNames = true, height = "bounded", label = words.ui.diff.files } = props
  const { onComment, onFileShown, ref } = props
  const [closed, setClosed] = useState<ReadonlySet<string>>(new Set())
  const lines = useMemo(() => diffRows(files, layout, closed, hasFileNames), [files, layout, closed, hasFileNames])
  const rows = useMemo(() => [...lines, ...(notes ?? []).map((text) => ({ kind: "note" as const, file: null, text }))], [lines, notes])
  const box = useRef<HTMLDivElement>(null)
  const virtual = useRef<VirtualizerHandle>(null)
  const shown = useRef<string | null>(null)

  function reveal(place: number, align: "start" | "nearest"): void {
    if (virtual.current) virtual.current.scrollToIndex(place, { align })
    else box.current?.querySelector(`[data-row="${place}"]`)?.scrollIntoView({ block: align })
  }

  function focusNumber(place: number, side: Side): void {
    reveal(place, "nearest")
    const find = () => box.current?.querySelector<HTMLElement>(`[data-place^="${place}."]${layout === "split" ? `[data-place$="${side}"]` : ""}`)
    const found = find()
    if (found) found.focus({ preventScroll: true })
    // A row that was out of sight is drawn in the next frames.
    else requestAnimationFrame(() => requestAnimationFrame(() => find()?.focus({ preventScroll: true })))
  }

  useImperativeHandle(ref, () => ({
    show: (path) => reveal(rows.findIndex((row) => row.file?.path === path), "start"),
  }))

  function scrolled(element: HTMLElement): void {
    const top = virtual.current?.findItemIndex(element.scrollTop) ?? topRow(element)
    const path = rows[top]?.file?.path
    if (path === undefined || path === shown.current) return
    shown.current = path
    onFileShown?.(path)
  }

  const commenting = useCommenting({ rows, focus: focusNumber })
  const toggle = (path: string) => setClosed((known) => new Set(known.has(path) ? [...known].filter((one) => one !== path) : [...known, path]))

  const drawn = (place: number) => {
    const row = rows[place]
    if (!row) return <div key={place} />
    return (
      <div key={place} data-row={place}>
        <DiffRowView row={row} place={place} commenting={onComment ? commenting : null} onToggle={toggle} />
        {onComment && commenting.about && commenting.below === place && (
          <CommentBox
            about={commenting.about}
            onCancel={commenting.done}
            onAdd={(text) => {
              const about = commenting.about
              if (about) onComment(about.file, about.side, about.startLine, about.endLine, about.code, text)
              commenting.done()
            }}
          />
        )}
      </div>
    )
  }

  return (
    <div
      ref={box}
      role="group"
      aria-label={label}
      tabIndex={0}
      className={classes(css["diff"], css[height])}
      onScroll={onFileShown && ((event) => scrolled(event.currentTarget))}
    >
      {rows.length === 0 && <p className={css["none"]}>{words.ui.diff.noChanges}</p>}
      {rows.length <= few ? (
        rows.map((_, place) => drawn(place))
      ) : (
        <Virtualizer ref={virtual} data={rows} itemSize={20} keepMounted={kept(commenting.below, commenting.current?.row)}>
          {(_, place) => drawn(place)}
        </Virtualizer>
      )}
    </div>
  )
}

/** Rows that stay, because somebody writes or stands there. */
function kept(...places: (number | null | undefined)[]): number[] {
  return places.filter((place) => place !== null && place !== undefined)
}

/** The first row that is in sight, where all are drawn. */
function topRow(element: HTMLElement): number {
  const top = element.getBoundingClientRect().top
  return Array.from(element.children).findIndex((row) => row.getBoundingClientRect().bottom > top + 1)
}
