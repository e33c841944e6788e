import { Image } from "lucide-react"
import { address } from "../../api/request"
import { textOf } from "../../chat/guards"
import { words } from "../../words"
import { Picture } from "../rows/Picture"
import css from "./card.module.css"
import { CardLine, type CardProps } from "./CardLine"
import { toolTitle } from "./tool_title"

/** An image, or another medium, that a tool has shown to the model. */
export function MediaCard({ call, opened }: CardProps) {
  const { name } = toolTitle(call.name)
  const type = textOf(call.result, "mime_type")
  const id = textOf(call.result, "attachment_file_id")
  const label = textOf(call.result, "attachment_name") || words.cards.imageOf(name)
  const source = id === "" ? `data:${type};base64,${textOf(call.result, "data")}` : address("/api/experimental/chats/files/{file}", { file: id })
  const caption = textOf(call.result, "text")
  return (
    <CardLine {...{ call, opened }} icon={Image} verbs={words.cards.generic} object={name} facts={[type]}>
      {caption !== "" && <p>{caption}</p>}
      {type.startsWith("image/") ? (
        <Picture source={source} name={label} />
      ) : (
        <p className={css["note"]}>
          <a href={source} download={label}>
            {words.cards.download(label)}
          </a>
        </p>
      )}
    </CardLine>
  )
}
