import { Search } from "lucide-react"
import { useEffect, useRef, useState } from "react"
import { useLocation } from "wouter"
import { request } from "../api/request"
import type { Chat, User } from "../api/schema"
import { classes } from "../ui/classes"
import { offered } from "../ui/floating/commands"
import { Dialog } from "../ui/floating/Dialog"
import { TextInput } from "../ui/inputs/TextInput"
import { Kbd } from "../ui/values/Kbd"
import { words } from "../words"
import css from "./Palette.module.css"
import { searchFor } from "./search"
import type { Shortcut } from "./shortcuts"

interface Entry {
  key: string
  label: string
  hint?: React.ReactNode
  keys?: string | undefined
  run: () => void
}

const DELAY = 150

/** Commands and chats in one place, by their words. */
export function Palette({ me, onClose, shortcuts }: { me: User; onClose: () => void; shortcuts: readonly Shortcut[] }) {
  const [typed, setTyped] = useState("")
  const [place, setPlace] = useState(0)
  const [, navigate] = useLocation()
  const { chats, error } = useFound(typed)
  const list = useRef<HTMLUListElement>(null)
  const input = useRef<HTMLInputElement>(null)
  const go = (to: string) => () => navigate(to)
  const [here] = useState(offered)
  const places = [
    { label: words.shell.settings, run: go("/settings") },
    { label: words.shell.usage, run: go("/usage") },
    { label: words.shell.workspaces, run: go("/workspaces") },
    ...usePages(me).map(({ path, label }) => ({ label: `${words.shell.settings}: ${label}`, run: go(`/settings/${path}`) })),
  ]
  const commands = distinct([
    ...shortcuts.map((one) => ({ label: one.name, keys: one.keys, run: one.run })),
    ...here.map(({ label, shortcut, run }) => ({ label, keys: shortcut, run })),
    ...places,
  ])
  const wanted = typed.trim().toLowerCase()
  const entries: Entry[] = [
    ...(wanted === "" ? [] : commands.filter((one) => one.label.toLowerCase().includes(wanted))),
    ...chats.map((chat) => ({ key: chat.id, label: chat.title || words.sidebar.untitled, hint: chat.match?.message_id && <Snippet match={chat.match} />, run: go(linkTo(chat)) })),
    ...(wanted === "" ? commands : []),
  ]
  const at = Math.min(place, entries.length - 1)

  useEffect(() => {
    list.current?.querySelector("[aria-selected=true]")?.scrollIntoView({ block: "nearest" })
  }, [at])

  const choose = (entry: Entry | undefined) => {
    if (!entry) return
    onClose()
    // It gives the focus back when it has closed; what was chosen may take it after that.
    setTimeout(entry.run)
  }

  return (
    <Dialog isOpen onClose={onClose} title={words.shell.search} focusFirst={input}>
      <TextInput
        ref={input}
        icon={Search}
        value={typed}
        onChange={(next) => {
          setTyped(next)
          setPlace(0)
        }}
        aria-label={words.sidebar.search}
        placeholder={words.sidebar.search}
        role="combobox"
        aria-expanded
        aria-controls="palette"
        aria-activedescendant={entries[at] ? `palette-${at}` : undefined}
        onKeyDown={(event) => {
          if (event.key === "ArrowDown") setPlace(Math.min(at + 1, entries.length - 1))
          else if (event.key === "ArrowUp") setPlace(Math.max(at - 1, 0))
          else if (event.key === "Enter" && !event.nativeEvent.isComposing) choose(entries[at])
          else return
          event.preventDefault()
        }}
      />
      {error && (
        <p role="alert" className={css["error"]}>
          {error.message}
        </p>
      )}
      <ul ref={list} id="palette" role="listbox" aria-label={words.shell.search} className={css["list"]}>
        {entries.map((entry, one) => (
          <li
            key={entry.key}
            id={`palette-${one}`}
            role="option"
            aria-selected={one === at}
            className={classes(css["entry"], one === at && css["chosen"])}
            onClick={() => choose(entry)}
            onMouseMove={() => setPlace(one)}
          >
            <span className={css["label"]}>{entry.label}</span>
            {entry.keys && <Kbd keys={entry.keys} />}
            {entry.hint && <span className={css["hint"]}>{entry.hint}</span>}
          </li>
        ))}
      </ul>
      {entries.length === 0 && <p className={css["none"]}>{words.sidebar.noMatch}</p>}
    </Dialog>
  )
}

/** Under one name only once: menus and keys lead to some of the same. */
function distinct(commands: readonly Omit<Entry, "key">[]): Entry[] {
  return [...new Map(commands.toReversed().map((one) => [one.label, { ...one, key: one.label }])).values()].toReversed()
}

/** Of the settings, which are loaded for it. Without them there is the way to all of them. */
function usePages(me: User): readonly { path: string; label: string }[] {
  const [pages, setPages] = useState<readonly { path: string; label: string }[]>([])
  useEffect(() => {
    import("../settings/pages").then(
      (settings) => setPages(settings.pages.filter((page) => settings.mayOpen(me, page))),
      () => undefined,
    )
  }, [me])
  return pages
}

function linkTo(chat: Chat): string {
  const message = chat.match?.message_id
  return `/chats/${chat.id}${message ? `#m${message}` : ""}`
}

/** Recent chats, or those in which the words were said. Results stay until the next ones are there. */
function useFound(typed: string): { chats: readonly Chat[]; error: Error | null } {
  const [found, setFound] = useState<{ chats: readonly Chat[]; error: Error | null }>({ chats: [], error: null })
  useEffect(() => {
    const controller = new AbortController()
    const search = async () => {
      const query = typed.trim() === "" ? { limit: 10 } : { limit: 30, q: searchFor(typed) }
      try {
        setFound({ chats: await request("GET /api/experimental/chats", { query, signal: controller.signal }), error: null })
      } catch (error) {
        if (!controller.signal.aborted) setFound({ chats: [], error: error as Error })
      }
    }
    const timer = setTimeout(() => void search(), typed === "" ? 0 : DELAY)
    return () => {
      clearTimeout(timer)
      controller.abort()
    }
  }, [typed])
  return found
}

/** Places are counted in code points, which is what the spread of a string gives. */
function Snippet({ match }: { match: NonNullable<Chat["match"]> }) {
  const signs = [...match.snippet]
  const pieces: React.ReactNode[] = []
  let from = 0
  for (const [start, end] of match.marks) {
    pieces.push(signs.slice(from, start).join(""), <mark key={start}>{signs.slice(start, end).join("")}</mark>)
    from = end
  }
  return (
    <>
      {pieces}
      {signs.slice(from).join("")}
    </>
  )
}
