import { describe, expect, test } from "vitest"
import type { Chat } from "../api/schema"
import { isWanted, questionOf, readFilters, writeFilters } from "./filters"
import { chat } from "./testing/made"
import { cursorOf, groupOf, pinnedOf, repinned, shown, told, withPage } from "./list"

const NONE: ReadonlyMap<string, Chat> = new Map()
const ACTIVE = { archived: false, open: null }
const titles = (known: ReadonlyMap<string, Chat>) => {
  const list = shown(known, new Date(Date.UTC(2026, 0, 10, 20)))
  return [...list.pinned.map((one) => `*${one.title}`), ...list.groups.flatMap((group) => group.chats.map((one) => one.title))]
}

describe("the list of chats", () => {
  test("has the pinned ones first in their order, then the last active", () => {
    const known = withPage(NONE, [chat("a"), chat("b", { pin_order: 2 }), chat("c"), chat("d", { pin_order: 1 })])
    expect(titles(known)).toEqual(["*d", "*b", "c", "a"])
  })

  test("takes in a chat that begins, and moves up one that changes", () => {
    let known = withPage(NONE, [chat("a"), chat("b")])
    known = told(known, { kind: "created", chat: chat("new") }, ACTIVE)
    known = told(known, { kind: "status_change", chat: chat("a", { status: "running" }) }, ACTIVE)
    expect(titles(known)).toEqual(["a", "new", "b"])
  })

  test("lets go of what was archived, and takes it back", () => {
    const known = withPage(NONE, [chat("a"), chat("b")])
    const archived = told(known, { kind: "deleted", chat: chat("a", { archived: true }) }, ACTIVE)
    expect(titles(archived)).toEqual(["b"])
    expect(titles(told(archived, { kind: "created", chat: chat("a") }, ACTIVE))).toEqual(["a", "b"])
  })

  test("shows no unread mark on the chat that is open", () => {
    const event = { kind: "status_change", chat: chat("a", { has_unread: true }) }
    expect(told(new Map(), event, { archived: false, open: "a" }).get("a")?.has_unread).toBe(false)
    expect(told(new Map(), event, ACTIVE).get("a")?.has_unread).toBe(true)
  })

  test("keeps children below their root, and the newer word on each", () => {
    const root = chat("a")
    const child = chat("kid", { parent_chat_id: "a", status: "running" })
    let known = told(withPage(NONE, [root]), { kind: "created", chat: child }, ACTIVE)
    const done = chat("kid", { parent_chat_id: "a", status: "waiting" })
    known = told(known, { kind: "status_change", chat: done }, ACTIVE)
    known = told(known, { kind: "title_change", chat: { ...root, title: "renamed", children: [child] } }, ACTIVE)
    expect(known.get("a")?.children.map((one) => [one.id, one.status])).toEqual([["kid", "waiting"]])
  })

  test("a child of a chat that is not in the list changes nothing", () => {
    const known = withPage(NONE, [chat("a")])
    expect(told(known, { kind: "created", chat: chat("kid", { parent_chat_id: "z" }) }, ACTIVE)).toBe(known)
  })

  test("groups by the reader's own days", () => {
    const now = new Date(2026, 0, 10, 9)
    const at = (day: number, hour: number) => new Date(2026, 0, day, hour).toISOString()
    expect(groupOf(at(10, 0), now)).toBe("today")
    expect(groupOf(at(9, 23), now)).toBe("yesterday")
    expect(groupOf(at(8, 23), now)).toBe("week")
    expect(groupOf(at(4, 0), now)).toBe("week")
    expect(groupOf(at(3, 23), now)).toBe("older")
  })

  test("numbers pins as the server does", () => {
    const known = withPage(NONE, [chat("a", { pin_order: 1 }), chat("b", { pin_order: 2 }), chat("c", { pin_order: 3 }), chat("d")])
    const order = (now: typeof known) => pinnedOf(now).map((one) => `${one.id}${one.pin_order}`)
    expect(order(repinned(known, "c", 1))).toEqual(["c1", "a2", "b3"])
    expect(order(repinned(known, "a", 3))).toEqual(["b1", "c2", "a3"])
    expect(order(repinned(known, "d", 1))).toEqual(["a1", "b2", "c3", "d4"])
    expect(order(repinned(known, "a", 0))).toEqual(["b1", "c2"])
  })

  test("goes on after the oldest chat that was read, whatever has come or moved since", () => {
    const page = [chat("pin", { pin_order: 1 }), chat("c"), chat("b"), chat("a")].map((one, place) => ({ ...one, updated_at: `2026-01-0${9 - place}` }))
    const floor = "2026-01-06"
    let known = withPage(NONE, page)
    expect(cursorOf(known, floor)).toBe("a")
    known = told(known, { kind: "created", chat: chat("new") }, ACTIVE)
    expect(cursorOf(known, floor)).toBe("a")
    known = told(known, { kind: "status_change", chat: chat("a") }, ACTIVE)
    expect(cursorOf(known, floor)).toBe("b")
    // Taken out of the archive: it is older than all that was read, and says nothing about what lies between.
    known = withPage(known, [chat("old", { updated_at: "2025-01-01" })])
    expect(cursorOf(known, floor)).toBe("b")
    expect(cursorOf(withPage(NONE, [chat("pin", { pin_order: 1 })]), "")).toBe("pin")
  })
})

describe("filters", () => {
  const all = readFilters("?list=running,archived,nonsense,unread,pr,error&x=1")

  test("are in the address beside what else is there", () => {
    expect([...all]).toEqual(["unread", "running", "error", "pr", "archived"])
    expect(writeFilters("?x=1&list=unread", readFilters("?list=error,pr"))).toBe("x=1&list=error,pr")
    expect(writeFilters("?list=unread", readFilters(""))).toBe("")
  })

  test("are asked of the server together", () => {
    expect(questionOf(all)).toBe("archived:true has_unread:true status:running,interrupting,requires_action,error pr_status:open,draft,merged,closed")
    expect(questionOf(readFilters(""))).toBe("")
  })

  test("hold for what the feed tells, and the open chat stays among the unread", () => {
    const unread = readFilters("?list=unread")
    expect(isWanted(chat("a"), unread, null)).toBe(false)
    expect(isWanted(chat("a"), unread, "a")).toBe(true)
    expect(isWanted(chat("a", { has_unread: true, status: "running" }), readFilters("?list=unread,error"), null)).toBe(false)
    expect(isWanted(chat("a", { status: "requires_action" }), readFilters("?list=running,error"), null)).toBe(true)
    expect(isWanted(chat("a"), readFilters("?list=pr"), null)).toBe(false)
  })
})
