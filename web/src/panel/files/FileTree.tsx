import { useQueries, useQuery, useQueryClient } from "@tanstack/react-query"
import { RotateCw } from "lucide-react"
import { useState } from "react"
import type { Listing } from "../../api/schema"
import { IconButton } from "../../ui/buttons/IconButton"
import { Tree } from "../../ui/layout/Tree"
import type { TreeItem } from "../../ui/layout/tree_rows"
import { EmptyState, ErrorState } from "../../ui/status/EmptyState"
import { SkeletonLines } from "../../ui/status/Skeleton"
import { bytesText } from "../../ui/values/spans"
import { words } from "../../words"
import { folderQuery } from "./file_queries"
import css from "./Files.module.css"

export interface FileTreeProps {
  workspaceId: string
  selected: string | null
  onSelect: (path: string) => void
}

/** Folders are read as they are opened. */
export function FileTree({ workspaceId, selected, onSelect }: FileTreeProps) {
  const [open, setOpen] = useState<ReadonlySet<string>>(new Set())
  const client = useQueryClient()
  const home = useQuery(folderQuery(workspaceId, null))
  const folders = useQueries({ queries: [...open].map((path) => folderQuery(workspaceId, path)) })
  const known = new Map([...open].map((path, place) => [path, folders[place]]))
  const text = words.panel.files

  if (home.error && !home.data) {
    return <ErrorState title={text.failed} text={home.error.message} onRetry={() => void home.refetch()} isRetrying={home.isFetching} />
  }
  if (!home.data) {
    return (
      <div className={css["loading"]}>
        <SkeletonLines count={8} />
      </div>
    )
  }

  const itemsOf = (listing: Listing): TreeItem[] => [
    ...listing.entries.map((entry) => {
      const id = `${listing.path === "/" ? "" : listing.path}/${entry.name}`
      if (entry.kind !== "directory") return { id, name: entry.name, end: entry.kind === "file" ? bytesText(entry.size) : undefined }
      const folder = known.get(id)
      const error = folder?.error ? [noteItem(`${id}/?`, text.failed)] : undefined
      return { id, name: entry.name, isFolder: true, items: folder?.data ? itemsOf(folder.data) : error }
    }),
    ...(listing.is_complete ? [] : [noteItem(`${listing.path}/…`, text.more(listing.total - listing.entries.length))]),
  ]
  const notes = new Set(["?", "…"])
  return (
    <>
      <div className={css["head"]}>
        <span className={css["path"]} title={home.data.path}>
          {home.data.path}
        </span>
        <IconButton
          name={text.refresh}
          icon={RotateCw}
          size="small"
          isBusy={home.isFetching}
          onClick={() => void client.invalidateQueries({ queryKey: ["workspaces", "folder", workspaceId] })}
        />
      </div>
      <div className={css["scroll"]}>
        {home.data.entries.length === 0 ? (
          <EmptyState title={text.empty} />
        ) : (
          <Tree
            label={text.tree}
            items={itemsOf(home.data)}
            open={open}
            onToggle={(item, isOpen) => setOpen((before) => toggled(before, item.id, isOpen))}
            selected={selected}
            onSelect={(item) => {
              if (!notes.has(item.id.slice(item.id.lastIndexOf("/") + 1))) onSelect(item.id)
            }}
          />
        )}
      </div>
    </>
  )
}

/** A line that is no file. */
function noteItem(id: string, name: string): TreeItem {
  return { id, name }
}

function toggled(open: ReadonlySet<string>, id: string, isOpen: boolean): ReadonlySet<string> {
  const next = new Set(open)
  if (isOpen) next.add(id)
  else next.delete(id)
  return next
}
