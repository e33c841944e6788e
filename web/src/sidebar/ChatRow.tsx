import { ChevronRight, Ellipsis, GitMerge, GitPullRequest, GitPullRequestClosed, GitPullRequestDraft } from "lucide-react"
import { type ChangeEvent, type HTMLAttributes, memo, type MouseEvent as PressEvent } from "react"
import { Link } from "wouter"
import type { Chat } from "../api/schema"
import { IconButton } from "../ui/buttons/IconButton"
import { classes } from "../ui/classes"
import { ContextMenu } from "../ui/floating/ContextMenu"
import { Menu } from "../ui/floating/Menu"
import { Icon } from "../ui/Icon"
import { type Status, StatusGlyph } from "../ui/status/StatusGlyph"
import { RelativeTime } from "../ui/values/RelativeTime"
import { words } from "../words"
import css from "./ChatRow.module.css"
import { type ChatActs, chatMenu } from "./chat_menu"
import { pullRequestOf } from "./list"

export interface ChatRowProps {
  chat: Chat
  isOpen: boolean
  /** How many are pinned; null while not all of them are shown. */
  pins: number | null
  acts: ChatActs
  /** Ticked, while several are being chosen; null while not. */
  isTicked: boolean | null
  onTick: (chat: Chat, isRange: boolean) => void
  isUnfolded: boolean
  onFold: (chat: Chat) => void
  /** Of one that can be dragged. */
  drag?: HTMLAttributes<HTMLLIElement> | undefined
  /** Something that is dragged would come there. */
  mark?: "before" | "after" | undefined
}

const glyphs: Record<Chat["status"], Status> = {
  running: "running",
  interrupting: "running",
  waiting: "idle",
  requires_action: "waiting",
  error: "error",
}

const drawings = { open: GitPullRequest, draft: GitPullRequestDraft, merged: GitMerge, closed: GitPullRequestClosed }

export const ChatRow = memo(function ChatRow(props: ChatRowProps) {
  const { chat, isOpen, pins, acts, isTicked, onTick, isUnfolded, onFold, drag, mark } = props
  const entries = chatMenu(chat, acts, pins)
  const title = chat.title || words.sidebar.untitled
  const isChild = chat.parent_chat_id !== undefined && chat.parent_chat_id !== null
  const tick = (event: ChangeEvent<HTMLInputElement>) => onTick(chat, event.nativeEvent instanceof MouseEvent && event.nativeEvent.shiftKey)
  /** While several are chosen, a press on a row chooses it. */
  const press = (event: PressEvent) => {
    if (isTicked === null || isChild || event.ctrlKey || event.metaKey) return
    event.preventDefault()
    onTick(chat, event.shiftKey)
  }
  const row = (
    <div className={classes(css["row"], isOpen && css["open"], isChild && css["child"])}>
      <span className={css["status"]}>
        {chat.children.length > 0 && (
          <button
            type="button"
            className={css["fold"]}
            aria-expanded={isUnfolded}
            aria-label={isUnfolded ? words.sidebar.hideChildren : words.sidebar.showChildren}
            title={words.sidebar.children(chat.children.length)}
            onClick={() => onFold(chat)}
          >
            <ChevronRight size={12} aria-hidden className={classes(css["chevron"], isUnfolded && css["unfolded"])} />
          </button>
        )}
        {chat.queued_for_capacity ? <StatusGlyph status="queued" /> : <StatusGlyph status={glyphs[chat.status]} word={words.sidebar.statuses[chat.status]} />}
      </span>
      <Link href={`/chats/${chat.id}`} className={css["link"]} aria-current={isOpen ? "page" : undefined} draggable={false} onClick={press}>
        <span className={classes(css["title"], chat.has_unread && css["unread"])}>{title}</span>
        <Second chat={chat} />
      </Link>
      <span className={css["end"]}>
        {chat.has_unread ? <span className={css["dot"]} role="img" aria-label={words.sidebar.unread} title={words.sidebar.unread} /> : <RelativeTime at={chat.updated_at} isShort className={css["time"]} />}
      </span>
      {isTicked === null ? (
        !isChild && (
          <span className={css["menu"]}>
            <Menu entries={entries} align="end">
              <IconButton name={words.sidebar.actions(title)} icon={Ellipsis} size="small" />
            </Menu>
          </span>
        )
      ) : (
        <input type="checkbox" className={css["tick"]} checked={isTicked} onChange={tick} aria-label={title} />
      )}
    </div>
  )
  return (
    <li className={css["item"]} data-chat={chat.id} data-mark={mark} {...drag}>
      {isChild ? row : <ContextMenu entries={entries}>{row}</ContextMenu>}
    </li>
  )
})

/** What it is about now: why it failed, what was done last; and what it has changed. */
function Second({ chat }: { chat: Chat }) {
  const diff = chat.diff_status
  const said = chat.last_error?.message ?? chat.last_turn_summary
  const hasDiff = diff && (diff.changed_files > 0 || diff.pull_request_state)
  if (!hasDiff && !said) return null
  const pull = diff ? pullRequestOf(diff) : null
  return (
    <span className={css["second"]}>
      {hasDiff && (
        <span className={css["diff"]} title={words.sidebar.diff(diff.additions, diff.deletions, diff.changed_files)}>
          {pull && (
            <span className={css[pull]} role="img" aria-label={words.sidebar.pullRequests[pull]}>
              <Icon of={drawings[pull]} size={12} />
            </span>
          )}
          {diff.changed_files > 0 && (
            <>
              <span className={css["added"]}>+{diff.additions}</span> <span className={css["removed"]}>−{diff.deletions}</span>
            </>
          )}
        </span>
      )}
      {said && <span className={classes(css["said"], chat.last_error && css["failed"])}>{said}</span>}
    </span>
  )
}
