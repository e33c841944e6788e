import { useQueryClient } from "@tanstack/react-query"
import { Archive, ArchiveRestore, Download, Ellipsis, FoldVertical, Pencil, Search } from "lucide-react"
import { broughtBack } from "../../api/bring_back"
import { queries } from "../../api/queries"
import { address, request } from "../../api/request"
import { saveFile } from "../../api/save_file"
import type { Chat, UpdateChat } from "../../api/schema"
import type { OpenedChat } from "../../chat"
import { IconButton } from "../../ui/buttons/IconButton"
import { useCommands } from "../../ui/floating/commands"
import { Menu } from "../../ui/floating/Menu"
import type { MenuEntry } from "../../ui/floating/menu_items"
import { toast } from "../../ui/floating/toast"
import { openFind } from "../find/finding"
import { words } from "../../words"

export interface ActionsMenuProps {
  chat: Chat
  opened: OpenedChat
  onRename: () => void
}

const formats = ["markdown", "html", "json"] as const

export function ActionsMenu({ chat, opened, onRename }: ActionsMenuProps) {
  const client = useQueryClient()
  const text = words.panel.header
  const isResting = chat.status === "waiting" || chat.status === "error"

  async function archive(isArchived: boolean, body: UpdateChat = { archived: isArchived }): Promise<void> {
    try {
      await request("PATCH /api/experimental/chats/{chat}", { path: { chat: chat.id }, body })
      client.setQueryData(queries.chat(chat.id).queryKey, (known) => known && { ...known, archived: isArchived })
      if (isArchived) toast(text.archived, { action: { label: words.common.undo, run: () => void archive(false, broughtBack(chat)) } })
    } catch (error) {
      failed(isArchived ? text.archive : text.unarchive, error)
    }
  }

  const entries: MenuEntry[] = [
    // The menu gives the focus back to its button when it has closed; the field comes after that.
    { label: words.header.rename, icon: Pencil, run: () => setTimeout(onRename) },
    { label: words.chat.find.title, icon: Search, shortcut: "Mod+F", run: () => setTimeout(openFind) },
    {
      label: words.header.compact,
      hint: words.header.compactHint,
      icon: FoldVertical,
      isDisabled: !isResting,
      run: () => void opened.actions.compact().catch((error: unknown) => failed(words.header.compact, error)),
    },
    {
      label: words.header.export,
      icon: Download,
      entries: formats.map((format) => ({
        label: text.formats[format],
        run: () => void saveFile(address("/api/experimental/chats/{chat}/export", { chat: chat.id }, { format })).catch((error: unknown) => failed(words.header.export, error)),
      })),
    },
    "line",
    chat.archived
      ? { label: text.unarchive, icon: ArchiveRestore, run: () => void archive(false) }
      : { label: text.archive, icon: Archive, isDisabled: !isResting, hint: isResting ? undefined : text.stopFirst, run: () => void archive(true) },
  ]
  useCommands(entries)

  return (
    <Menu align="end" entries={entries}>
      <IconButton name={words.header.actions} icon={Ellipsis} />
    </Menu>
  )
}

function failed(what: string, error: unknown): void {
  toast(words.common.failed(what), { kind: "error", text: error instanceof Error ? error.message : "" })
}
