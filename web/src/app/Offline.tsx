import { useSyncExternalStore } from "react"
import { words } from "../words"
import css from "./Offline.module.css"

export function Offline() {
  const isOnline = useSyncExternalStore(subscribe, () => navigator.onLine)
  return isOnline ? null : (
    <p role="status" className={css["offline"]}>
      {words.shell.offline}
    </p>
  )
}

function subscribe(changed: () => void): () => void {
  window.addEventListener("online", changed)
  window.addEventListener("offline", changed)
  return () => {
    window.removeEventListener("online", changed)
    window.removeEventListener("offline", changed)
  }
}
