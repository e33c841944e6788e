import { GitFork, Pencil } from "lucide-react"
import { useStore } from "zustand"
import { beginEditing, draftOf, fromContent, type OpenedChat, type UserRow as Row } from "../../chat"
import { CopyButton } from "../../ui/buttons/CopyButton"
import { IconButton } from "../../ui/buttons/IconButton"
import { classes } from "../../ui/classes"
import { RelativeTime } from "../../ui/values/RelativeTime"
import { words } from "../../words"
import { CopyLink } from "./CopyLink"
import { ContextRow } from "./ContextRow"
import { FileRow } from "./FileRow"
import css from "./row.module.css"
import { Said } from "./Said"
import { useFork, useForkBefore } from "./use_fork"

/** What a person has said: set apart by a rule and by weight. */
export function UserRow({ row, opened, isMine }: { row: Row; opened: OpenedChat; isMine: boolean }) {
  const fork = useFork(opened)
  const forkBefore = useForkBefore(opened)
  const files = row.blocks.flatMap((block) => (block.kind === "file" ? [block] : []))
  const isEdited = useStore(draftOf(opened.chatId), ({ editing }) => editing?.messageId === row.message.id)
  const said = row.blocks.flatMap((block) => (block.kind === "text" ? [block.text] : [])).join("\n\n")
  return (
    <article className={classes(css["user"], isEdited && css["edited"])} aria-label={words.chat.you}>
      <div className={css["userHead"]}>
        <h2>{words.chat.you}</h2>
        <RelativeTime at={row.message.created_at} />
        {isEdited && <span className={css["editedMark"]}>{words.chat.beingEdited}</span>}
        <span className={css["actions"]}>
          {said !== "" && <CopyButton text={said} name={words.chat.copyMessage} size="small" />}
          <CopyLink chatId={opened.chatId} messageId={row.message.id} />
          {isMine && (
            <IconButton
              name={words.chat.editMessage}
              icon={Pencil}
              size="small"
              onClick={() => beginEditing(draftOf(opened.chatId), row.message)}
            />
          )}
          {/* Files of someone else can't be sent in one's own name: there the message itself is in the fork. */}
          <IconButton
            name={words.chat.forkHere}
            icon={GitFork}
            size="small"
            onClick={() => void (isMine ? forkBefore(row.message) : fork(row.message.id))}
          />
        </span>
      </div>
      <Said written={fromContent(row.message.content)}>
        {files.map((block) => (
          <FileRow key={block.key} file={block.file} />
        ))}
      </Said>
      {row.context && (
        <div className={css["lines"]}>
          <ContextRow row={row.context} opened={opened} />
        </div>
      )}
    </article>
  )
}
