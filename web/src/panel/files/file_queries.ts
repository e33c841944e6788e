/** Folders and files of a workspace. */
import { queryOptions } from "@tanstack/react-query"
import { address, answered, fetched, request } from "../../api/request"

const freshMs = 10_000
/** As much of a file as is shown. */
export const mostBytes = 512 * 1024

/** `null` is the home. */
export const folderQuery = (workspaceId: string, path: string | null) =>
  queryOptions({
    queryKey: ["workspaces", "folder", workspaceId, path],
    queryFn: ({ signal }) =>
      request("GET /api/experimental/workspaces/{workspace}/files", { path: { workspace: workspaceId }, query: { path, limit: 1000 }, signal }),
    staleTime: freshMs,
    refetchOnWindowFocus: true,
  })

export interface FileText {
  /** null: it is no text. */
  text: string | null
  bytes: number
  isCut: boolean
}

export const fileQuery = (workspaceId: string, path: string) =>
  queryOptions({
    queryKey: ["workspaces", "file", workspaceId, path],
    queryFn: ({ signal }) => readFile(workspaceId, path, signal),
    staleTime: freshMs,
    refetchOnWindowFocus: true,
  })

export function fileAddress(workspaceId: string, path: string, isInline = false): string {
  const query = isInline ? { path, inline: true } : { path }
  return address("/api/experimental/workspaces/{workspace}/files/content", { workspace: workspaceId }, query)
}

async function readFile(workspaceId: string, path: string, signal: AbortSignal): Promise<FileText> {
  const range = { range: `bytes=0-${mostBytes - 1}` }
  const response = await fetched(fileAddress(workspaceId, path), { headers: range, credentials: "same-origin", signal })
  // No byte can be asked for of an empty file.
  if (response.status === 416) return { text: "", bytes: 0, isCut: false }
  if (!response.ok) {
    await answered(response)
    return { text: null, bytes: 0, isCut: false }
  }
  const bytes = new Uint8Array(await response.arrayBuffer())
  const total = Number(/\/(\d+)$/.exec(response.headers.get("content-range") ?? "")?.[1] ?? bytes.length)
  return { text: decoded(bytes), bytes: total, isCut: total > bytes.length }
}

/** null where it is no UTF-8, or has a NUL. A character may be cut at the end. */
function decoded(bytes: Uint8Array): string | null {
  if (bytes.includes(0)) return null
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes, { stream: true })
  } catch {
    return null
  }
}
