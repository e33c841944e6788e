import { ListFilter, MessageSquarePlus, PanelLeftClose, Search } from "lucide-react"
import { lazy, Suspense, useCallback, useEffect, useMemo, useRef, useState } from "react"
import { Link } from "wouter"
import { useStore } from "zustand"
import type { Chat } from "../api/schema"
import { Button } from "../ui/buttons/Button"
import { IconButton } from "../ui/buttons/IconButton"
import { Menu } from "../ui/floating/Menu"
import { toast } from "../ui/floating/toast"
import { Icon } from "../ui/Icon"
import { Kbd } from "../ui/values/Kbd"
import { words } from "../words"
import { ChatRow } from "./ChatRow"
import type { ChatActs } from "./chat_menu"
import { isAtWork } from "./chat_menu"
import { shown } from "./list"
import css from "./Sidebar.module.css"
import type { ChatList, View } from "./store"

export interface SidebarProps {
  list: ChatList
  onSearch: () => void
  /** Missing where it can't be hidden: it is the whole page on a phone. */
  onHide?: (() => void) | undefined
  footer: React.ReactNode
}

const RenameDialog = lazy(() => import("./RenameDialog").then((module) => ({ default: module.RenameDialog })))

const views: readonly View[] = ["active", "unread", "archived"]

export function Sidebar({ list, onSearch, onHide, footer }: SidebarProps) {
  const state = useStore(list.state)
  const [renamed, setRenamed] = useState<Chat | null>(null)
  const [ticked, setTicked] = useState<ReadonlySet<string> | null>(null)
  const [unfolded, setUnfolded] = useState<ReadonlySet<string>>(new Set())
  const acts = useChatActs(list, setRenamed)
  const isWanted = useCallback(
    (chat: Chat) => state.view !== "unread" || chat.has_unread || chat.id === state.open,
    [state.view, state.open],
  )
  const parts = useMemo(() => shown(state.known, new Date(), isWanted), [state.known, isWanted])
  const tick = useCallback((chat: Chat) => setTicked((before) => toggled(before ?? new Set(), chat.id)), [])
  const fold = useCallback((chat: Chat) => setUnfolded((before) => toggled(before, chat.id)), [])
  useUnfoldedParents(state.open, state.known, setUnfolded)
  const text = words.sidebar

  const rows = (chats: readonly Chat[]): React.ReactNode =>
    chats.map((chat) => {
      const isUnfolded = unfolded.has(chat.id)
      const common = { pinned: parts.pinned, acts, onTick: tick, onFold: fold }
      return [
        <ChatRow key={chat.id} chat={chat} isOpen={chat.id === state.open} isTicked={ticked && ticked.has(chat.id)} isUnfolded={isUnfolded} {...common} />,
        isUnfolded &&
          chat.children.map((child) => (
            <ChatRow key={child.id} chat={child} isOpen={child.id === state.open} isTicked={null} isUnfolded={false} {...common} />
          )),
      ]
    })

  const isEmpty = state.isRead && parts.pinned.length === 0 && parts.groups.length === 0
  return (
    <nav className={css["sidebar"]} aria-label={text.title}>
      <div className={css["head"]}>
        <Link href="/" className={css["new"]}>
          <Icon of={MessageSquarePlus} />
          {words.shell.newChat}
          <Kbd keys="Alt+N" />
        </Link>
        <Filter list={list} view={state.view} onSelect={() => setTicked(new Set())} />
        {onHide && <IconButton name={words.shell.closeSidebar} icon={PanelLeftClose} shortcut="Mod+B" onClick={onHide} />}
      </div>
      <button type="button" className={css["search"]} onClick={onSearch}>
        <Icon of={Search} />
        {words.shell.search}
        <Kbd keys="Mod+K" />
      </button>
      {ticked && <Ticked count={ticked.size} onDone={() => setTicked(null)} onArchive={() => archiveAll(list, ticked, () => setTicked(null))} />}
      <div className={css["list"]} aria-busy={state.isLoading}>
        {state.view !== "active" && <h2 className={css["view"]}>{text.filters[state.view === "archived" ? "archived" : "unread"]}</h2>}
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
        {isEmpty && !state.error && <Nothing view={state.view} onClear={() => list.show("active")} />}
        {parts.pinned.length > 0 && <Group name={text.pinned}>{rows(parts.pinned)}</Group>}
        {parts.groups.map((group) => (
          <Group key={group.name} name={text.groups[group.name]}>
            {rows(group.chats)}
          </Group>
        ))}
        <More isThere={state.hasMore} onReached={() => void list.more()} />
      </div>
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
      archive: (chat, isArchived) =>
        attempt(list.update(chat, { archived: isArchived }), () =>
          toast(isArchived ? words.sidebar.archived(1) : words.sidebar.unarchived, {
            text: chat.title,
            action: {
              label: words.common.undo,
              run: () => attempt(list.update(chat, { archived: !isArchived }), () => void list.readAgain()),
            },
          }),
        ),
    }
  }, [list, rename])
}

async function archiveAll(list: ChatList, ids: ReadonlySet<string>, done: () => void): Promise<void> {
  const { known } = list.state.getState()
  const chats = [...ids].map((id) => known.get(id)).filter((chat): chat is Chat => chat !== undefined && !isAtWork(chat))
  const outcomes = await Promise.allSettled(chats.map((chat) => list.update(chat, { archived: true })))
  const gone = chats.filter((_, place) => outcomes[place]?.status === "fulfilled")
  done()
  toast(words.sidebar.archived(gone.length), {
    action: {
      label: words.common.undo,
      run: () => void Promise.allSettled(gone.map((chat) => list.update(chat, { archived: false }))).then(() => list.readAgain()),
    },
  })
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

function Filter({ list, view, onSelect }: { list: ChatList; view: View; onSelect: () => void }) {
  const text = words.sidebar
  const labels: Record<View, string> = { active: text.filters.all, unread: text.filters.unread, archived: text.filters.archived }
  return (
    <Menu
      align="end"
      entries={[
        ...views.map((one) => ({ label: labels[one], isChecked: one === view, isOneOf: true, choose: () => list.show(one) })),
        "line",
        { label: text.select, isDisabled: view === "archived", run: onSelect },
      ]}
    >
      <IconButton name={text.filter} icon={ListFilter} isPressed={view !== "active"} />
    </Menu>
  )
}

function Group({ name, children }: { name: string; children: React.ReactNode }) {
  return (
    <section className={css["group"]} aria-label={name}>
      <h2 className={css["heading"]}>{name}</h2>
      <ul>{children}</ul>
    </section>
  )
}

function Ticked({ count, onDone, onArchive }: { count: number; onDone: () => void; onArchive: () => void }) {
  return (
    <div className={css["ticked"]} role="status">
      <span>{words.sidebar.selected(count)}</span>
      <Button size="small" disabled={count === 0} onClick={onArchive}>
        {words.sidebar.archive}
      </Button>
      <Button size="small" kind="quiet" onClick={onDone}>
        {words.sidebar.done}
      </Button>
    </div>
  )
}

function Nothing({ view, onClear }: { view: View; onClear: () => void }) {
  const text = words.sidebar
  return (
    <div className={css["empty"]}>
      <p>{view === "archived" ? text.noArchived : view === "unread" ? text.noMatch : text.empty}</p>
      {view === "active" ? (
        <p className={css["muted"]}>{text.emptyText}</p>
      ) : (
        <Button size="small" onClick={onClear}>
          {text.clear}
        </Button>
      )}
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

/** Asks for the next page before its end is seen. */
function More({ isThere, onReached }: { isThere: boolean; onReached: () => void }) {
  const mark = useRef<HTMLDivElement>(null)
  const reached = useRef(onReached)
  reached.current = onReached
  useEffect(() => {
    if (!isThere || !mark.current) return
    const observer = new IntersectionObserver((entries) => entries.some((entry) => entry.isIntersecting) && reached.current(), {
      rootMargin: "400px",
    })
    observer.observe(mark.current)
    return () => observer.disconnect()
  }, [isThere])
  return isThere ? <div ref={mark} className={css["more"]} /> : null
}

function toggled(set: ReadonlySet<string>, id: string): ReadonlySet<string> {
  const next = new Set(set)
  if (!next.delete(id)) next.add(id)
  return next
}
