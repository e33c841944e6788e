import { words } from "../words"
import css from "./entry.module.css"

export function Brand() {
  return (
    <p className={css["brand"]}>
      <img src="/icon.svg" width={20} height={20} alt="" />
      {words.common.name}
    </p>
  )
}
