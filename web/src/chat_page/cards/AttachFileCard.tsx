import { Download, Paperclip } from "lucide-react"
import { address } from "../../api/request"
import { numberOf, textOf } from "../../chat/guards"
import { ButtonLink } from "../../ui/buttons/Button"
import { bytesText } from "../../ui/values/spans"
import { words } from "../../words"
import css from "./card.module.css"
import { CardLine, type CardProps } from "./CardLine"
import { Code } from "./Code"

/** A file of the workspace that was given to the person. */
export function AttachFileCard({ call, opened }: CardProps) {
  const path = textOf(call.result, "path") || textOf(call.args, "path")
  const name = textOf(call.result, "name") || textOf(call.args, "name") || path.split("/").at(-1) || ""
  const id = textOf(call.result, "file_id")
  const size = numberOf(call.result, "size")
  return (
    <CardLine
      {...{ call, opened }}
      icon={Paperclip}
      verbs={words.cards.attachFile}
      object={name === "" ? words.cards.aFile : <Code title={path}>{name}</Code>}
      facts={[size !== null && bytesText(size)]}
    >
      {id !== "" && (
        <div className={css["foot"]}>
          <ButtonLink href={address("/api/experimental/chats/files/{file}", { file: id })} download={name} icon={Download} size="small">
            {words.cards.download(name)}
          </ButtonLink>
          <span className={css["mono"]}>{words.cards.fromPath(path)}</span>
        </div>
      )}
    </CardLine>
  )
}
