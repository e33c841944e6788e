import { Button } from "../ui/buttons/Button"
import { words } from "../words"
import css from "./Notice.module.css"

/** Nobody is made to reload: the old page works on, but for parts that it has not loaded yet. */
export function NewVersion() {
  return (
    <div role="status" className={css["notice"]}>
      <span>{words.shell.newVersion}</span>
      <Button size="small" onClick={() => location.reload()}>
        {words.shell.reload}
      </Button>
    </div>
  )
}
