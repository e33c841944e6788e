import css from "./Kbd.module.css"
import { keysOf } from "./shortcut"

/** Keys to press, from "Mod+K". */
export function Kbd({ keys }: { keys: string }) {
  return (
    <span className={css["keys"]}>
      {keysOf(keys).map((key, place) => (
        <kbd key={place} className={css["key"]}>{key}</kbd>
      ))}
    </span>
  )
}
