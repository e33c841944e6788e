import { useSyncExternalStore } from "react"
import { classes } from "../ui/classes"
import { words } from "../words"
import css from "./Notice.module.css"

export function Offline() {
  const isOnline = useSyncExternalStore(subscribe, () => navigator.onLine)
  return isOnline ? null : (
    <p role="status" className={classes(css["notice"], css["warning"])}>
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
