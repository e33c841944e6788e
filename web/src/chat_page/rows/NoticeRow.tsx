import { Info } from "lucide-react"
import { Icon } from "../../ui/Icon"
import css from "./row.module.css"

/** Something that the server has to say. */
export function NoticeRow({ text }: { text: string }) {
  return (
    <p role="note" className={css["notice"]}>
      <Icon of={Info} />
      <span>{text}</span>
    </p>
  )
}
