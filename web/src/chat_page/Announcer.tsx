import { useEffect, useRef, useState } from "react"
import type { LiveStatus } from "../chat"
import { words } from "../words"

/** Says once that an answer has begun, is complete or has failed, to those who do not see it. */
export function Announcer({ status }: { status: LiveStatus }) {
  const before = useRef(status.phase)
  const [said, setSaid] = useState("")
  const phase = status.phase
  useEffect(() => {
    const was = before.current
    before.current = phase
    if (was === phase) return
    const text = words.chat.announce
    if (phase === "starting" || (phase === "streaming" && was === "idle")) setSaid(text.started)
    else if (phase === "failed") setSaid(text.failed)
    else if (phase === "idle") setSaid(was === "interrupting" ? text.stopped : text.done)
  }, [phase])
  return (
    <p role="status" className="unseen">
      {said}
    </p>
  )
}
