import { memo } from "react"
import type { OpenedChat, TimelineRow } from "../../chat"
import { classes } from "../../ui/classes"
import { Crash } from "../../ui/status/Crash"
import { messagesOf } from "../row_places"
import { ContextRow } from "./ContextRow"
import { EndRow } from "./EndRow"
import { FileRow } from "./FileRow"
import { NoticeRow } from "./NoticeRow"
import { ReferenceRow } from "./ReferenceRow"
import css from "./row.module.css"
import { SendRow } from "./SendRow"
import { SourcesRow } from "./SourcesRow"
import { StepsRow } from "./StepsRow"
import { SummaryRow } from "./SummaryRow"
import { TextRow } from "./TextRow"
import { UserRow } from "./UserRow"

const lines: ReadonlySet<TimelineRow["kind"]> = new Set(["reasoning", "steps", "summary", "sources", "context"])

interface TimelineRowViewProps {
  row: TimelineRow
  opened: OpenedChat
  isMine: boolean
  /** A link leads to its message. */
  isMarked?: boolean
}

/** A row is drawn again only when it is another object. */
export const TimelineRowView = memo(function TimelineRowView({ row, opened, isMine, isMarked = false }: TimelineRowViewProps) {
  return (
    <div
      className={classes(css["row"], lines.has(row.kind) && css["lines"], isMarked && css["marked"])}
      data-row={row.kind}
      data-message={messagesOf(row)[0]}
      aria-current={isMarked || undefined}
    >
      <Crash>{drawn(row, opened, isMine)}</Crash>
    </div>
  )
})

function drawn(row: TimelineRow, opened: OpenedChat, isMine: boolean) {
  switch (row.kind) {
    case "user":
      return <UserRow row={row} opened={opened} isMine={isMine} />
    case "send":
      return <SendRow row={row} opened={opened} />
    case "text":
      return <TextRow row={row} />
    case "reasoning":
    case "steps":
      return <StepsRow row={row} opened={opened} />
    case "summary":
      return <SummaryRow row={row} opened={opened} />
    case "file":
      return <FileRow file={row.file} />
    case "file-reference":
      return <ReferenceRow reference={row.reference} />
    case "sources":
      return <SourcesRow row={row} opened={opened} />
    case "context":
      return <ContextRow row={row} opened={opened} />
    case "notice":
      return <NoticeRow text={row.text} />
    case "end":
      return <EndRow row={row} opened={opened} />
  }
}
