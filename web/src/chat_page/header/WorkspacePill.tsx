import { Box, FolderOpen, Power, PowerOff, SquareTerminal, Unplug } from "lucide-react"
import { useState } from "react"
import type { Chat, WorkspaceState } from "../../api/schema"
import type { PanelOpening } from "../../panel/opening"
import { isMoving, useTransition, useWorkspace } from "../../panel/workspace"
import { classes } from "../../ui/classes"
import { Menu } from "../../ui/floating/Menu"
import { Icon } from "../../ui/Icon"
import { Turning } from "../../ui/status/Turning"
import { words } from "../../words"
import css from "./ChatHeader.module.css"
import { useWorkspaceChoice } from "./workspace_choice"

/** Where the chat works, how that is, and what can be done with it. */
export function WorkspacePill({ chat, panel }: { chat: Chat; panel: PanelOpening }) {
  const { id, state, name } = useWorkspace(chat)
  const transition = useTransition(id, chat.id)
  const text = words.panel.workspace
  const [isAsked, setAsked] = useState(false)
  const choice = useWorkspaceChoice(chat, isAsked)
  const isNone = id === null || state === undefined || name === undefined
  if (isNone) {
    if (chat.parent_chat_id) return null
    return (
      <Menu align="end" entries={choice.entries} onOpenChange={(isOpen) => isOpen && setAsked(true)}>
        <button type="button" className={css["pill"]} title={text.choose}>
          <Icon of={Box} />
          <span className={css["pillName"]}>{text.none}</span>
        </button>
      </Menu>
    )
  }
  const isRunning = state === "running"
  return (
    <Menu
      align="end"
      entries={[
        { heading: `${name} · ${text.states[state]}` },
        { label: text.terminal, icon: SquareTerminal, isDisabled: !isRunning, run: () => panel.show("terminal") },
        { label: text.files, icon: FolderOpen, isDisabled: !isRunning, run: () => panel.show("files") },
        "line",
        isRunning || state === "stopping"
          ? { label: text.stop, icon: PowerOff, isDisabled: !isRunning || chat.status === "running", run: () => transition.mutate("stop") }
          : { label: text.start, icon: Power, isDisabled: isMoving(state) || state === "deleted", run: () => transition.mutate("start") },
        "line",
        { label: text.another, icon: Box, entries: choice.entries },
        { label: text.detach, icon: Unplug, isDisabled: chat.status === "running", run: () => choice.take(null) },
      ]}
      onOpenChange={(isOpen) => isOpen && setAsked(true)}
    >
      <button type="button" className={css["pill"]} title={text.word}>
        <span className="unseen">{text.word} </span>
        {isMoving(state) ? <Turning /> : <Icon of={Box} />}
        <span className={css["pillName"]}>{name}</span>{" "}
        <span className={classes(css["state"], css[toneOf(state)])}>{text.states[state]}</span>
      </button>
    </Menu>
  )
}

function toneOf(state: WorkspaceState): "good" | "bad" | "plain" {
  if (state === "running") return "good"
  return state === "failed" || state === "deleted" ? "bad" : "plain"
}
