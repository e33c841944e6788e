/** The chats that were open last, with their pictures: going back to one shows it at once. */
import { ChatActions } from "./actions"
import type { ChatStore, ChatSurroundings } from "./chat_state"
import { hasWords } from "./sending"
import { LiveChat } from "./store"

export interface OpenedChat {
  readonly chatId: string
  readonly store: ChatStore
  readonly actions: ChatActions
  /** Whether there are older ones still. */
  loadOlder(): Promise<boolean>
  /** Reads back until the message is there. False: it is not to be had. */
  loadBackTo(messageId: number): Promise<boolean>
  /** Tries again what failed or waits. */
  retry(): void
  /** Nobody looks at it any more. What was sent goes on being sent. */
  close(): void
}

interface Kept {
  readonly live: LiveChat
  readonly actions: ChatActions
  readers: number
}

const mostKept = 8

export class RecentChats {
  private readonly around: ChatSurroundings
  /** Those that were looked at last are last. */
  private readonly kept = new Map<string, Kept>()

  constructor(around: ChatSurroundings) {
    this.around = around
  }

  open(chatId: string): OpenedChat {
    const kept = this.keep(chatId)
    kept.readers += 1
    if (kept.readers === 1) kept.live.start()
    this.drop()
    return this.opened(kept)
  }

  /** What an earlier page has left without an answer goes out again, whether its chat is looked at or not. */
  resume(): void {
    for (const one of this.around.unsent.all()) if (one.kind !== "chat") this.keep(one.chatId).actions.resume(one)
  }

  /** Another tab has done something about one that was refused. */
  forgotten(key: string): void {
    for (const { actions } of this.kept.values()) actions.forgotten(key)
  }

  private keep(chatId: string): Kept {
    const kept = this.kept.get(chatId) ?? this.made(chatId)
    this.kept.delete(chatId)
    this.kept.set(chatId, kept)
    return kept
  }

  private made(chatId: string): Kept {
    const live = new LiveChat(chatId, this.around)
    return { live, actions: new ChatActions(chatId, live.store, this.around), readers: 0 }
  }

  private opened(kept: Kept): OpenedChat {
    const { live, actions } = kept
    let isOpen = true
    return {
      chatId: live.chatId,
      store: live.store,
      actions,
      loadOlder: () => live.loadOlder(),
      loadBackTo: (messageId) => live.loadBackTo(messageId),
      retry: () => live.retry(),
      close: () => {
        if (!isOpen) return
        isOpen = false
        kept.readers -= 1
        if (kept.readers === 0) live.stop()
      },
    }
  }

  private drop(): void {
    for (const [chatId, { live, readers }] of this.kept) {
      if (this.kept.size <= mostKept) return
      if (readers === 0 && !hasWords(live.store.getState().overlay)) this.kept.delete(chatId)
    }
  }
}
