import { useEffect, useState } from "react"
import { words } from "../../words"
import css from "./Spinner.module.css"
import { Turning } from "./Turning"

/** Something is being waited for. After 300 ms it says what. */
export function Spinner({ text = words.common.loading }: { text?: string | undefined }) {
  const [isLong, setIsLong] = useState(false)
  useEffect(() => {
    const timer = setTimeout(() => setIsLong(true), 300)
    return () => clearTimeout(timer)
  }, [])
  return (
    <span role="status" className={css["spinner"]}>
      <Turning />
      {isLong && <span>{text}</span>}
    </span>
  )
}
