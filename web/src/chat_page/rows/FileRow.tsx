import { FileText } from "lucide-react"
import type { FilePart } from "../../api/events"
import { address } from "../../api/request"
import { Icon } from "../../ui/Icon"
import { words } from "../../words"
import css from "./row.module.css"

/** An image is shown, anything else is a link to it. */
export function FileRow({ file }: { file: FilePart }) {
  const name = file.name || words.chat.file
  const source = file.file_id ? address("/api/experimental/chats/files/{file}", { file: file.file_id }) : `data:${file.media_type};base64,${file.data ?? ""}`
  if (file.media_type.startsWith("image/")) {
    return (
      <a href={source} target="_blank" rel="noreferrer">
        <img src={source} alt={name} className={css["image"]} loading="lazy" />
      </a>
    )
  }
  return (
    <a href={source} download={name} className={css["chip"]}>
      <Icon of={FileText} />
      <span>{name}</span>
    </a>
  )
}
