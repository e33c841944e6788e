import { useIsOnline } from "../browser/online"
import { classes } from "../ui/classes"
import { words } from "../words"
import css from "./Notice.module.css"

export function Offline() {
  return useIsOnline() ? null : (
    <p role="status" className={classes(css["notice"], css["warning"])}>
      {words.shell.offline}
    </p>
  )
}
