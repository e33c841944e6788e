import { FileCode, Paperclip, X } from "lucide-react"
import { address } from "../../api/request"
import { changeComment, type Draft, type DraftStore, type Reference } from "../../chat"
import { Button } from "../../ui/buttons/Button"
import { IconButton } from "../../ui/buttons/IconButton"
import { classes } from "../../ui/classes"
import { Icon } from "../../ui/Icon"
import { words } from "../../words"
import { canPasteInline, canTryAgain, detach, pasteInline, tryAgain } from "./attaching"
import css from "./ComposerBox.module.css"

/** Of a comment that are seen at once. */
const MOST_LINES = 4

/** Files and references that go with the message. */
export function Attachments({ draft, of }: { draft: Draft; of: DraftStore }) {
  if (draft.files.length === 0 && draft.references.length === 0) return null
  const nameOf = ({ file_name, start_line, end_line }: Reference) => `${file_name.split("/").at(-1)} ${words.chat.lines(start_line, end_line)}`
  return (
    <ul className={css["attached"]}>
      {draft.references.map((reference, place) => (
        <li key={`${reference.file_name}:${reference.start_line}:${place}`} className={classes(css["chip"], reference.comment !== undefined && css["commented"])}>
          <Icon of={FileCode} />
          <span>{nameOf(reference)}</span>
          {reference.comment !== undefined && (
            <textarea
              className={css["comment"]}
              rows={Math.min(reference.comment.split("\n").length, MOST_LINES)}
              aria-label={words.composer.commentOn(nameOf(reference))}
              value={reference.comment}
              onChange={(event) => changeComment(of, place, event.target.value)}
            />
          )}
          <IconButton
            name={words.composer.remove(reference.file_name)}
            icon={X}
            size="small"
            onClick={() => of.setState({ references: draft.references.filter((_, other) => other !== place) })}
          />
        </li>
      ))}
      {draft.files.map((file) => (
        <li key={file.key} className={classes(css["chip"], file.error && css["wrong"])}>
          {file.id && file.mediaType.startsWith("image/") ? (
            <img src={address("/api/experimental/chats/files/{file}", { file: file.id })} alt="" className={css["thumbnail"]} />
          ) : (
            <Icon of={Paperclip} />
          )}
          <span>{file.name}</span>
          {file.progress !== null && <span className={css["muted"]}>{words.composer.uploading(Math.round(file.progress * 100))}</span>}
          {file.error && <span role="alert">{file.error}</span>}
          {canTryAgain(file) && (
            <Button size="small" kind="quiet" onClick={() => tryAgain(of, file.key)}>
              {words.common.tryAgain}
            </Button>
          )}
          {canPasteInline(file) && (
            <Button size="small" kind="quiet" onClick={() => void pasteInline(of, file)}>
              {words.composer.inline}
            </Button>
          )}
          <IconButton name={words.composer.remove(file.name)} icon={X} size="small" onClick={() => detach(of, file.key)} />
        </li>
      ))}
    </ul>
  )
}
