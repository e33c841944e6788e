import type { Meta, StoryObj } from "@storybook/react-vite"
import { useState } from "react"
import { expect, userEvent, waitFor } from "storybook/test"
import { Answered, type Answers, type Question, Refusal, unanswered } from "../api/testing/Answered"
import type { Chat, Workspace, WorkspaceState } from "../api/schema"
import { asked, chatId, picture, said } from "../chat/testing/made"
import { shownChat } from "../chat/testing/opened"
import type { PanelTab } from "./opening"
import { Panel } from "./Panel"

const meta: Meta = { title: "panel/Panel" }
export default meta
type Story = StoryObj

const at = "2026-03-01T09:00:00Z"
const seen = picture([asked(1), said(2)])

const chat: Chat = {
  id: chatId,
  organization_id: "o",
  owner_id: "u",
  root_chat_id: chatId,
  last_model_config_id: "m",
  title: "Count the owls",
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
}
const working: Chat = { ...chat, workspace_id: "w" }

function workspace(state: WorkspaceState, error = ""): Workspace {
  return {
    id: "w",
    organization_id: "o",
    owner_id: "u",
    owner_name: "mia",
    template_id: "t",
    template_name: "local",
    name: "local-1",
    state,
    parameters: {},
    ttl_ms: null,
    latest_build: { id: "b", number: 1, transition: "start", status: "succeeded", created_at: at, error },
    last_used_at: at,
    created_at: at,
    updated_at: at,
  }
}

const one = "GET /api/experimental/workspaces/{workspace}"
const files = "GET /api/experimental/workspaces/{workspace}/files"
const common: Answers = {
  "GET /api/experimental/chats/model-configs": [],
  "GET /api/experimental/chats/config/user-compaction-thresholds": { thresholds: [] },
  "GET /api/experimental/chats/{chat}/cost": { chat_id: chatId, total_cost_micros: 1_500_000, request_count: 3, unpriced_request_count: 1 },
  "GET /api/experimental/chats/{chat}": chat,
}

function Shown({ of = working, tab, answers = {}, questions = [], isMine = true }: { of?: Chat; tab: PanelTab; answers?: Answers; questions?: Question[]; isMine?: boolean }) {
  const [opened] = useState(() => shownChat(seen))
  const panel = { isOpen: true, isSheet: false, isFull: false, tab, show: () => {}, toggle: () => {}, close: () => {}, fill: () => {} }
  return (
    <Answered answers={{ ...common, ...answers }} asked={questions}>
      <div style={{ width: 520, height: 520, display: "flex" }}>
        <Panel chat={of} opened={opened} picture={seen} panel={panel} isMine={isMine} />
      </div>
    </Answered>
  )
}

function says(words: string, shown: Parameters<typeof Shown>[0]): Story {
  return {
    render: () => <Shown {...shown} />,
    play: async ({ canvas }) => void (await waitFor(() => expect(canvas.getByText(words)).toBeVisible())),
  }
}

export const ChangesWithoutWorkspace = says("No workspace yet", { of: chat, tab: "diff" })
export const FilesWithoutWorkspace = says("No workspace yet", { of: chat, tab: "files" })
export const TerminalWithoutWorkspace = says("No workspace yet", { of: chat, tab: "terminal" })
export const NotYours = says("Only the owner of the chat sees this", { tab: "files", isMine: false })
export const Starting = says("The workspace starts", { tab: "files", answers: { [one]: workspace("starting") } })
export const Stopping = says("The workspace stops", { tab: "files", answers: { [one]: workspace("stopping") } })
export const Deleted = says("The workspace is gone", { tab: "files", answers: { [one]: workspace("deleted") } })
export const FailedToStart = says("No space left", { tab: "files", answers: { [one]: workspace("failed", "No space left") } })
export const WorkspaceUnread = says("The workspace could not be read", { tab: "files", answers: { [one]: new Refusal(404, "It is not there.") } })

const asks: Question[] = []

export const Stopped: Story = {
  render: () => {
    asks.length = 0
    return (
      <Answered asked={asks} answers={{ ...common, [one]: workspace("stopped"), "POST /api/experimental/workspaces/{workspace}/builds": unanswered }}>
        <Inside />
      </Answered>
    )
  },
  play: async ({ canvas }) => {
    await userEvent.click(await canvas.findByRole("button", { name: "Start" }))
    await waitFor(() => expect(asks.some((ask) => ask.route.startsWith("POST ") && JSON.stringify(ask.body) === '{"transition":"start"}')).toBe(true))
  },
}

function Inside() {
  const [opened] = useState(() => shownChat(seen))
  const panel = { isOpen: true, isSheet: false, isFull: false, tab: "terminal" as const, show: () => {}, toggle: () => {}, close: () => {}, fill: () => {} }
  return <Panel chat={working} opened={opened} picture={seen} panel={panel} isMine />
}

const entry = { modified_at_unix: 1_772_355_600, is_link: false }
const home = {
  path: "/home/mia",
  entries: [
    { ...entry, name: "notes", kind: "directory" as const, size: 0 },
    { ...entry, name: "owls.md", kind: "file" as const, size: 1234 },
  ],
  total: 2,
  is_complete: true,
  next: null,
}

export const Files: Story = {
  render: () => <Shown tab="files" answers={{ [one]: workspace("running"), [files]: home }} />,
  play: async ({ canvas }) => {
    await expect(await canvas.findByRole("treeitem", { name: /owls.md/ })).toBeVisible()
    await expect(canvas.getByRole("treeitem", { name: /notes/ })).toHaveAttribute("aria-expanded", "false")
  },
}

export const FilesEmpty = says("The folder is empty", { tab: "files", answers: { [one]: workspace("running"), [files]: { ...home, entries: [], total: 0 } } })
export const FilesFailed = says("The folder could not be read", { tab: "files", answers: { [one]: workspace("running"), [files]: new Refusal(404, "It is not there.") } })

export const FilesLoading: Story = {
  render: () => {
    asks.length = 0
    return <Shown tab="files" questions={asks} answers={{ [one]: workspace("running"), [files]: unanswered }} />
  },
  play: async ({ canvas }) => {
    await waitFor(() => expect(asks.map((ask) => ask.route)).toContain(files))
    await expect(await canvas.findByRole("status")).toHaveTextContent("Loading")
    await expect(canvas.queryByRole("treeitem")).toBeNull()
  },
}

export const Context: Story = {
  render: () => <Shown tab="context" />,
  play: async ({ canvas }) => {
    await expect(await canvas.findByText("How full it is")).toBeVisible()
    await waitFor(() => expect(canvas.getByText("$1.50")).toBeVisible())
    await expect(canvas.getByText(/1 without a price/)).toBeVisible()
  },
}

export const ContextDark: Story = { ...Context, globals: { theme: "dark" } }
