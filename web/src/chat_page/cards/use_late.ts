import { useEffect, useState } from "react"

/** Whether something has gone on for so long. */
export function useLate(isGoing: boolean, milliseconds: number): boolean {
  const [isLate, setLate] = useState(false)
  useEffect(() => {
    if (!isGoing) return
    const timer = setTimeout(() => setLate(true), milliseconds)
    return () => {
      clearTimeout(timer)
      setLate(false)
    }
  }, [isGoing, milliseconds])
  return isGoing && isLate
}
