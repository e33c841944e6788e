import { useEffect } from "react"
import { useLocation, useSearch } from "wouter"
import { useStore } from "zustand"
import { isSameFilters, readFilters, writeFilters } from "./filters"
import type { ChatList } from "./store"

/**
 * The filters are in the address of a chat and of a new one. Links know nothing of them: where one comes to by a link has them
 * again. An address that has some, as one that was kept, is followed.
 */
export function useFilterAddress(list: ChatList): void {
  const [path, navigate] = useLocation()
  const search = useSearch()
  const filters = useStore(list.state, (state) => state.filters)
  useEffect(() => {
    const asked = readFilters(search)
    if (asked.size > 0) list.filter(asked)
    // Only what the address says when one comes there; afterwards it follows the list.
    // oxlint-disable-next-line react-hooks/exhaustive-deps
  }, [list, path])
  useEffect(() => {
    if (!(path === "/" || path.startsWith("/chats/"))) return
    if (isSameFilters(readFilters(search), list.state.getState().filters)) return
    const written = writeFilters(search, list.state.getState().filters)
    navigate(`${path}${written && `?${written}`}${window.location.hash}`, { replace: true })
  }, [list, path, search, filters, navigate])
}
