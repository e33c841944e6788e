import { type RefObject, useLayoutEffect, useRef, useState } from "react"

/** The width that a place has, as it changes. */
export function useWidth<Kind extends HTMLElement>(): [RefObject<Kind | null>, number] {
  const element = useRef<Kind>(null)
  const [width, setWidth] = useState(0)
  useLayoutEffect(() => {
    const found = element.current
    if (!found) return
    const observer = new ResizeObserver(() => setWidth(found.clientWidth))
    observer.observe(found)
    setWidth(found.clientWidth)
    return () => observer.disconnect()
  }, [])
  return [element, width]
}
