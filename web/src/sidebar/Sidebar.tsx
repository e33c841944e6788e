import { MessageSquarePlus, PanelLeftClose, Search } from "lucide-react"
import { Fragment, lazy, type ReactNode, Suspense, useCallback, useEffect, useMemo, useRef, useState } from "react"
import { Link } from "wouter"
import { useStore } from "zustand"
import { broughtBack } from "../api/bring_back"
import type { Chat } from "../api/schema"
import { serverNow } from "../api/server_clock"
import { Button } from "../ui/buttons/Button"
import { IconButton } from "../ui/buttons/IconButton"
import { toast } from "../ui/floating/toast"
import { Icon } from "../ui/Icon"
import { Kbd } from "../ui/values/Kbd"
import { words } from "../words"
import { ChatRow } from "./ChatRow"
import { type ChatActs, isAtWork } from "./chat_menu"
import { Filtered, FilterMenu } from "./Filter"
import { type Filters, isWanted } from "./filters"
import { shown } from "./list"
import { type ListKeys, pressed } from "./list_keys"
import css from "./Sidebar.module.css"
import type { ChatList } from "./store"
import { useFilterAddress } from "./use_filter_address"
import { usePinDrag } from "./use_pin_drag"
import { toggled, useSelection } from "./use_selection"

export interface SidebarProps {
  list: ChatList
  onSearch: () => void
  /** Missing where it can't be hidden: it is the whole page on a phone. */
  onHide?: (() => void) | undefined
  footer: ReactNode
}

const Selection = lazy(() => import("./Selection").then((module) => ({ default: module.Selection })))
const RenameDialog = lazy(() => import("./RenameDialog").then((module) => ({ default: module.RenameDialog })))

export function Sidebar({ list, onSearch, onHide, footer }: SidebarProps) {
  const state = useStore(list.state)
  const { filters, open, known } = state
  const [renamed, setRenamed] = useState<Chat | null>(null)
  const [unfolded, setUnfolded] = useState<ReadonlySet<string>>(new Set())
  const [said, setSaid] = useState("")
  const acts = useChatActs(list, setRenamed)
  const parts = useMemo(() => shown(known, new Date(serverNow()), (chat) => isWanted(chat, filters, open)), [known, filters, open])
  const order = useMemo(() => [...parts.pinned, ...parts.groups.flatMap((group) => group.chats)], [parts])
  const selection = useSelection(order)
  const fold = useCallback((chat: Chat) => setUnfolded((before) => toggled(before, chat.id)), [])
  const drag = usePinDrag(acts.pin)
  useFilterAddress(list)
  useUnfoldedParents(open, known, setUnfolded)
  const text = words.sidebar
  const pins = filters.size === 0 ? parts.pinned.length : null

  const move = (chat: Chat, by: -1 | 1) => {
    const place = chat.pin_order + by
    if (pins === null || chat.pin_order === 0 || place < 1 || place > pins) return
    acts.pin(chat, place)
    setSaid(text.movedTo(chat.title || text.untitled, place, pins))
  }
  const withChat = (act: (chat: Chat) => void) => (id: string) => {
    const chat = known.get(id)
    if (chat) act(chat)
  }
  const keys: ListKeys = {
    tick: withChat((chat) => selection.tick(chat.id)), // a sub-agent goes with its chat
    tickAll: selection.tickAll,
    move: (id, by) => withChat((chat) => move(chat, by))(id),
    rename: withChat((chat) => !chat.archived && setRenamed(chat)),
    archive: (id) => {
      const chat = known.get(id)
      if (!chat || chat.archived || isAtWork(chat)) return false
      acts.archive(chat, true)
      return true
    },
    leave: selection.ticked && selection.leave,
  }

  const rows = (chats: readonly Chat[], isPinned = false): ReactNode =>
    chats.map((chat) => {
      const isUnfolded = unfolded.has(chat.id)
      const common = { pins, acts, onTick: selection.onTick, onFold: fold }
      const dragged = isPinned && pins !== null && pins > 1
      return (
        <Fragment key={chat.id}>
          <ChatRow
            chat={chat}
            isOpen={chat.id === open}
            isTicked={selection.ticked && selection.ticked.has(chat.id)}
            isUnfolded={isUnfolded}
            drag={dragged ? drag.of(chat) : undefined}
            mark={drag.mark?.id === chat.id ? (drag.mark.isAfter ? "after" : "before") : undefined}
            {...common}
          />
          {isUnfolded && chat.children.map((child) => <ChatRow key={child.id} chat={child} isOpen={child.id === open} isTicked={null} isUnfolded={false} {...common} />)}
        </Fragment>
      )
    })

  const isEmpty = state.isRead && order.length === 0
  const change = (next: Filters) => {
    selection.leave()
    list.filter(next)
  }
  return (
    <nav className={css["sidebar"]} aria-label={text.title}>
      <div className={css["head"]}>
        <Link href="/" className={css["new"]}>
          <Icon of={MessageSquarePlus} />
          {words.shell.newChat}
          <Kbd keys="Alt+N" />
        </Link>
        <FilterMenu filters={filters} onChange={change} onSelect={() => selection.tickAll([])} />
        {onHide && <IconButton name={words.shell.closeSidebar} icon={PanelLeftClose} shortcut="Mod+B" onClick={onHide} />}
      </div>
      <button type="button" className={css["search"]} onClick={onSearch}>
        <Icon of={Search} />
        {words.shell.search}
        <Kbd keys="Mod+K" />
      </button>
      <Suspense>{selection.ticked && <Selection list={list} chats={order.filter((chat) => selection.ticked?.has(chat.id))} onDone={selection.leave} />}</Suspense>
      <div className={css["list"]} aria-busy={state.isLoading} onKeyDown={(event) => pressed(event, keys)}>
        {filters.size > 0 && <Filtered filters={filters} onChange={change} />}
        {state.error && (
          <div className={css["empty"]} role="alert">
            <p>{text.failed}</p>
            <p className={css["muted"]}>{state.error.message}</p>
            <Button size="small" onClick={() => void list.readAgain()}>
              {words.common.tryAgain}
            </Button>
          </div>
        )}
        {!state.isRead && !state.error && <Skeletons />}
        {isEmpty && !state.error && <Nothing filters={filters} />}
        {parts.pinned.length > 0 && <Group name={text.pinned}>{rows(parts.pinned, true)}</Group>}
        {parts.groups.map((group) => (
          <Group key={group.name} name={text.groups[group.name]}>
            {rows(group.chats)}
          </Group>
        ))}
        <More isThere={state.hasMore} isAwaited={!state.isLoading && !state.error} onReached={() => void list.more()} />
      </div>
      <p role="status" className="unseen">
        {said}
      </p>
      {footer}
      <Suspense>
        {renamed && (
          <RenameDialog
            key={renamed.id}
            chat={renamed}
            onClose={() => setRenamed(null)}
            onRename={(title) => list.update(renamed, { title })}
          />
        )}
      </Suspense>
    </nav>
  )
}

function useChatActs(list: ChatList, rename: (chat: Chat) => void): ChatActs {
  return useMemo(() => {
    const attempt = (doing: Promise<void>, done?: () => void) =>
      void doing.then(done, (error: Error) => toast(words.common.failed(words.sidebar.title), { text: error.message, kind: "error" }))
    return {
      rename,
      pin: (chat, place) => attempt(list.update(chat, { pin_order: place })),
      markRead: (chat) => attempt(list.markRead(chat)),
      archive: (chat, isArchived) =>
        attempt(list.update(chat, { archived: isArchived }), () =>
          toast(isArchived ? words.sidebar.archived(1) : words.sidebar.unarchived, {
            text: chat.title,
            action: {
              label: words.common.undo,
              run: () => attempt(list.update(chat, isArchived ? broughtBack(chat) : { archived: true }), () => void list.readAgain()),
            },
          }),
        ),
    }
  }, [list, rename])
}

/** Once, when one comes to a child: a list that was folded by hand stays folded. */
function useUnfoldedParents(open: string | null, known: ReadonlyMap<string, Chat>, set: React.Dispatch<React.SetStateAction<ReadonlySet<string>>>) {
  const root = useMemo(() => {
    if (!open || known.has(open)) return null
    return [...known.values()].find((chat) => chat.children.some((child) => child.id === open))?.id ?? null
  }, [open, known])
  useEffect(() => {
    if (root) set((before) => (before.has(root) ? before : new Set([...before, root])))
  }, [root, open, set])
}

function Group({ name, children }: { name: string; children: ReactNode }) {
  return (
    <section className={css["group"]} aria-label={name}>
      <h2 className={css["heading"]}>{name}</h2>
      <ul>{children}</ul>
    </section>
  )
}

function Nothing({ filters }: { filters: Filters }) {
  const text = words.sidebar
  if (filters.size === 0) {
    return (
      <div className={css["empty"]}>
        <p>{text.empty}</p>
        <p className={css["muted"]}>{text.emptyText}</p>
      </div>
    )
  }
  return (
    <div className={css["empty"]}>
      <p>{filters.size === 1 && filters.has("archived") ? text.noArchived : text.noMatch}</p>
    </div>
  )
}

function Skeletons() {
  return (
    <div className={css["skeletons"]} aria-hidden>
      {[72, 54, 63, 80, 47, 66].map((width) => (
        <span key={width} style={{ width: `${width}%` }} />
      ))}
    </div>
  )
}

/** Asks for the next page before its end is seen, and again when one has come and the end is still in sight. */
function More({ isThere, isAwaited, onReached }: { isThere: boolean; isAwaited: boolean; onReached: () => void }) {
  const mark = useRef<HTMLDivElement>(null)
  const reached = useRef(onReached)
  reached.current = onReached
  useEffect(() => {
    if (!isThere || !isAwaited || !mark.current) return
    const observer = new IntersectionObserver((entries) => entries.some((entry) => entry.isIntersecting) && reached.current(), {
      rootMargin: "400px",
    })
    observer.observe(mark.current)
    return () => observer.disconnect()
  }, [isThere, isAwaited])
  return isThere ? <div ref={mark} className={css["more"]} /> : null
}
