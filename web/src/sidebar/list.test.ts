import { describe, expect, test } from "vitest"
import type { Chat } from "../api/schema"
import { groupOf, replacedBy, shown, told } from "./list"

let minute = 0

function chat(id: string, more: Partial<Chat> = {}): Chat {
  minute += 1
  const at = new Date(Date.UTC(2026, 0, 10, 12, minute)).toISOString()
  return {
    id,
    organization_id: "o",
    owner_id: "u",
    root_chat_id: more.parent_chat_id ?? id,
    last_model_config_id: "m",
    title: id,
    status: "waiting",
    last_turn_summary: null,
    summary: null,
    created_at: at,
    updated_at: at,
    archived: false,
    shared: false,
    pin_order: 0,
    mcp_server_ids: [],
    labels: {},
    has_unread: false,
    client_type: "ui",
    children: [],
    ...more,
  }
}

const ACTIVE = { archived: false, open: null }
const titles = (known: ReadonlyMap<string, Chat>) => {
  const list = shown(known, new Date(Date.UTC(2026, 0, 10, 20)))
  return [...list.pinned.map((one) => `*${one.title}`), ...list.groups.flatMap((group) => group.chats.map((one) => one.title))]
}

describe("the list of chats", () => {
  test("has the pinned ones first in their order, then the last active", () => {
    const known = replacedBy([chat("a"), chat("b", { pin_order: 2 }), chat("c"), chat("d", { pin_order: 1 })])
    expect(titles(known)).toEqual(["*d", "*b", "c", "a"])
  })

  test("takes in a chat that begins, and moves up one that changes", () => {
    let known = replacedBy([chat("a"), chat("b")])
    known = told(known, { kind: "created", chat: chat("new") }, ACTIVE)
    known = told(known, { kind: "status_change", chat: chat("a", { status: "running" }) }, ACTIVE)
    expect(titles(known)).toEqual(["a", "new", "b"])
  })

  test("lets go of what was archived, and takes it back", () => {
    const known = replacedBy([chat("a"), chat("b")])
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
    let known = told(replacedBy([root]), { kind: "created", chat: child }, ACTIVE)
    const done = chat("kid", { parent_chat_id: "a", status: "waiting" })
    known = told(known, { kind: "status_change", chat: done }, ACTIVE)
    known = told(known, { kind: "title_change", chat: { ...root, title: "renamed", children: [child] } }, ACTIVE)
    expect(known.get("a")?.children.map((one) => [one.id, one.status])).toEqual([["kid", "waiting"]])
  })

  test("a child of a chat that is not in the list changes nothing", () => {
    const known = replacedBy([chat("a")])
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
})
