/** What can be done with a chat from the list: the same for the button's menu and for the right mouse button. */
import { Archive, ArchiveRestore, ArrowDown, ArrowUp, Download, MailCheck, Pencil, Pin, PinOff } from "lucide-react"
import { address } from "../api/request"
import { saveFile } from "../api/save_file"
import type { Chat } from "../api/schema"
import type { MenuEntry } from "../ui/floating/menu_items"
import { toast } from "../ui/floating/toast"
import { words } from "../words"

export interface ChatActs {
  pin(chat: Chat, place: number): void
  rename(chat: Chat): void
  archive(chat: Chat, isArchived: boolean): void
  markRead(chat: Chat): void
}

export function isAtWork(chat: Chat): boolean {
  const busy = chat.status === "running" || chat.status === "interrupting" || chat.status === "requires_action"
  return busy || chat.children.some(isAtWork)
}

/** `pins` is how many are pinned; null while not all of them are shown, and nothing can be said about their order. */
export function chatMenu(chat: Chat, acts: ChatActs, pins: number | null): MenuEntry[] {
  const text = words.sidebar
  if (chat.archived) return [{ label: text.unarchive, icon: ArchiveRestore, run: () => acts.archive(chat, false) }, "line", exportMenu(chat)]
  return [
    ...pinEntries(chat, acts, pins),
    { label: text.rename, icon: Pencil, shortcut: "F2", run: () => acts.rename(chat) },
    ...(chat.has_unread ? [{ label: text.markRead, icon: MailCheck, run: () => acts.markRead(chat) }] : []),
    exportMenu(chat),
    "line",
    {
      label: text.archive,
      icon: Archive,
      shortcut: "Delete",
      isDisabled: isAtWork(chat),
      hint: isAtWork(chat) ? text.archiveHint : undefined,
      run: () => acts.archive(chat, true),
    },
  ]
}

function pinEntries(chat: Chat, acts: ChatActs, pins: number | null): MenuEntry[] {
  const text = words.sidebar
  if (chat.pin_order === 0) return [{ label: text.pin, icon: Pin, run: () => acts.pin(chat, (pins ?? 0) + 1) }]
  const place = chat.pin_order
  return [
    { label: text.unpin, icon: PinOff, run: () => acts.pin(chat, 0) },
    { label: text.moveUp, icon: ArrowUp, shortcut: "Alt+ArrowUp", isDisabled: pins === null || place <= 1, run: () => acts.pin(chat, place - 1) },
    { label: text.moveDown, icon: ArrowDown, shortcut: "Alt+ArrowDown", isDisabled: pins === null || place >= pins, run: () => acts.pin(chat, place + 1) },
  ]
}

function exportMenu(chat: Chat): MenuEntry {
  const formats = ["markdown", "html", "json"] as const
  return {
    label: words.sidebar.export,
    icon: Download,
    entries: formats.map((format) => ({
      label: words.sidebar.exportAs[format],
      run: () => void saveFile(address("/api/experimental/chats/{chat}/export", { chat: chat.id }, { format })).catch(exportFailed),
    })),
  }
}

function exportFailed(error: Error): void {
  toast(words.common.failed(words.sidebar.export), { text: error.message, kind: "error" })
}
