import type { Meta, StoryObj } from "@storybook/react-vite"
import { useState } from "react"
import { expect, userEvent, waitFor, within } from "storybook/test"
import type { request } from "../api/request"
import { Answered, Refusal, unanswered } from "../api/testing/Answered"
import type { Chat, ChatDiffStatus, User } from "../api/schema"
import { ChatRow } from "./ChatRow"
import { noFilters, readFilters } from "./filters"
import { RenameDialog } from "./RenameDialog"
import { Sidebar } from "./Sidebar"
import { makeChatList } from "./store"
import { chat } from "./testing/made"
import { UserMenu } from "./UserMenu"

const meta: Meta = { title: "sidebar/Sidebar" }
export default meta
type Story = StoryObj

const today = new Date().toISOString()
const some = [
  chat("Pinned owls", { pin_order: 1, updated_at: today }),
  chat("Count the foxes", { updated_at: today, has_unread: true }),
  chat("Write a poem", { updated_at: today, status: "running" }),
  chat("An old thing"),
]

/** A list that was read, and that nobody tells anything. */
function Listed({ chats = [], error, isLoading = false, filters = "" }: { chats?: readonly Chat[]; error?: Error; isLoading?: boolean; filters?: string }) {
  const [list] = useState(() => {
    const silent = (() => new Promise(() => {})) as unknown as typeof request
    const made = makeChatList(silent, () => () => {})
    made.state.setState({
      known: new Map(chats.map((one) => [one.id, one])),
      isRead: !isLoading && !error,
      isLoading,
      error: error ?? null,
      filters: filters ? readFilters(`?list=${filters}`) : noFilters,
    })
    return made
  })
  return (
    <Answered answers={{}} path={filters ? `/?list=${filters}` : "/"}>
      <div style={{ width: 280, height: 520 }}>
        <Sidebar list={list} onSearch={() => {}} footer={null} />
      </div>
    </Answered>
  )
}

export const Filled: Story = {
  render: () => <Listed chats={some} />,
  play: async ({ canvas }) => {
    const pinned = within(await canvas.findByRole("region", { name: "Pinned" }))
    await expect(pinned.getByRole("link", { name: /Pinned owls/ })).toBeVisible()
    await expect(within(canvas.getByRole("region", { name: "Today" })).getAllByRole("listitem")).toHaveLength(2)
    await expect(canvas.getByRole("img", { name: "Unread" })).toBeVisible()
    await expect(within(canvas.getByRole("region", { name: "Older" })).getByText("An old thing")).toBeVisible()
  },
}

export const FilledDark: Story = { ...Filled, globals: { theme: "dark" } }

export const Empty: Story = {
  render: () => <Listed />,
  play: async ({ canvas }) => void (await expect(await canvas.findByText("No chats yet")).toBeVisible()),
}

export const Loading: Story = {
  render: () => <Listed isLoading />,
  play: async ({ canvas, canvasElement }) => {
    await canvas.findByRole("navigation", { name: "Chats" })
    await expect(canvasElement.querySelector("[aria-busy=true]")).not.toBeNull()
    await expect(canvas.queryByText("No chats yet")).toBeNull()
  },
}

export const Failed: Story = {
  render: () => <Listed error={new Error("The server did not answer.")} />,
  play: async ({ canvas }) => {
    await expect(await canvas.findByRole("alert")).toHaveTextContent("The server did not answer.")
    await expect(canvas.getByRole("button", { name: "Try again" })).toBeVisible()
  },
}

export const FilteredToNothing: Story = {
  render: () => <Listed chats={[chat("Not this one")]} filters="unread,error" />,
  play: async ({ canvas }) => {
    await expect(await canvas.findByText("Nothing matches")).toBeVisible()
    await expect(canvas.getByRole("heading", { name: "Unread, Failed" })).toBeVisible()
    await expect(canvas.getByRole("button", { name: "Show all" })).toBeVisible()
  },
}

export const NothingArchived: Story = {
  render: () => <Listed filters="archived" />,
  play: async ({ canvas }) => void (await expect(await canvas.findByText("Nothing is archived")).toBeVisible()),
}

export const SelectedMany: Story = {
  render: () => <Listed chats={some} />,
  play: async ({ canvas }) => {
    const first = await canvas.findByRole("link", { name: /Count the foxes/ })
    first.focus()
    await userEvent.keyboard(" ")
    await expect(await canvas.findByRole("toolbar", { name: "Selected chats" })).toHaveTextContent("1 selected")
    await userEvent.keyboard("{Shift>}{ArrowUp}{/Shift}")
    await waitFor(() => expect(canvas.getByRole("toolbar")).toHaveTextContent("2 selected"))
    await expect(canvas.getByRole("checkbox", { name: "Count the foxes" })).toBeChecked()
  },
}

export const ArchivedByKey: Story = {
  render: () => <Listed chats={some} />,
  play: async ({ canvas, canvasElement }) => {
    const first = await canvas.findByRole("link", { name: /Count the foxes/ })
    first.focus()
    await userEvent.keyboard("{Delete}")
    await waitFor(() => expect(canvas.queryByRole("link", { name: /Count the foxes/ })).toBeNull())
    await expect(canvasElement.querySelector("[data-chat] a:focus")).not.toBeNull()
  },
}

function Rows({ of }: { of: readonly Chat[] }) {
  const acts = { pin: () => {}, rename: () => {}, archive: () => {}, markRead: () => {} }
  return (
    <Answered answers={{}}>
      <ul aria-label="Chats" style={{ width: 280 }}>
        {of.map((one) => (
          <ChatRow key={one.id} chat={one} isOpen={false} pins={2} acts={acts} isTicked={null} onTick={() => {}} isUnfolded={false} onFold={() => {}} />
        ))}
      </ul>
    </Answered>
  )
}

export const Statuses: Story = {
  render: () => (
    <Rows
      of={[
        chat("idle"),
        chat("running", { status: "running" }),
        chat("stopping", { status: "interrupting" }),
        chat("waiting", { status: "requires_action" }),
        chat("failed", { status: "error", last_error: { message: "The provider does not accept the key.", kind: "auth" } as NonNullable<Chat["last_error"]> }),
        chat("queued", { status: "running", queued_for_capacity: true }),
      ]}
    />
  ),
  play: async ({ canvas }) => {
    for (const word of ["Idle", "Working", "Stopping", "Needs you", "Failed", "Queued"]) await expect(await canvas.findByText(word)).toBeInTheDocument()
    await expect(canvas.getByText("The provider does not accept the key.")).toBeVisible()
  },
}

function diff(more: Partial<ChatDiffStatus>): Partial<Chat> {
  return { diff_status: { additions: 12, deletions: 3, changed_files: 2, ...more } as ChatDiffStatus }
}

export const Changes: Story = {
  render: () => (
    <Rows
      of={[
        chat("only changes", diff({})),
        chat("open", diff({ pull_request_state: "open" })),
        chat("draft", diff({ pull_request_state: "open", pull_request_draft: true })),
        chat("merged", diff({ pull_request_state: "merged" })),
        chat("closed", diff({ pull_request_state: "closed" })),
      ]}
    />
  ),
  play: async ({ canvas }) => {
    await expect(await canvas.findAllByText("+12")).toHaveLength(5)
    for (const name of ["Pull request open", "Draft pull request", "Pull request merged", "Pull request closed"]) {
      await expect(canvas.getByRole("img", { name })).toBeVisible()
    }
  },
}

export const Marks: Story = {
  render: () => (
    <Rows
      of={[
        chat("unread", { has_unread: true, last_turn_summary: "Wrote a poem" }),
        chat("pinned", { pin_order: 1 }),
        chat("archived", { archived: true }),
        chat("with sub-agents", { children: [chat("child", { parent_chat_id: "with sub-agents" })] }),
        chat("a sub-agent", { parent_chat_id: "with sub-agents" }),
      ]}
    />
  ),
  play: async ({ canvas }) => {
    await expect(await canvas.findByRole("img", { name: "Unread" })).toBeVisible()
    await expect(canvas.getByRole("button", { name: "Show sub-agents" })).toHaveAttribute("aria-expanded", "false")
    await expect(canvas.queryByRole("button", { name: "Actions for a sub-agent" })).toBeNull()
    await userEvent.click(canvas.getByRole("button", { name: "Actions for pinned" }))
    const menu = within(await within(document.body).findByRole("menu"))
    await expect(menu.getByRole("menuitem", { name: /Move up/ })).toHaveAttribute("aria-disabled", "true")
    await expect(menu.getByRole("menuitem", { name: /Move down/ })).not.toHaveAttribute("aria-disabled", "true")
    await userEvent.keyboard("{Escape}")
  },
}

const propose = "POST /api/experimental/chats/{chat}/title/propose"

export const Renaming: Story = {
  render: () => (
    <Answered answers={{ [propose]: { title: "Barn owls at night" } }}>
      <RenameDialog chat={chat("Old title")} onRename={async () => {}} onClose={() => {}} />
    </Answered>
  ),
  play: async () => {
    const dialog = within(await within(document.body).findByRole("dialog"))
    await userEvent.click(dialog.getByRole("button", { name: "Propose a title" }))
    await waitFor(() => expect(dialog.getByRole("textbox", { name: "Title" })).toHaveValue("Barn owls at night"))
    await userEvent.clear(dialog.getByRole("textbox", { name: "Title" }))
    await expect(dialog.getByRole("button", { name: "Save" })).toBeDisabled()
  },
}

export const NoTitleCame: Story = {
  render: () => (
    <Answered answers={{ [propose]: new Refusal(502, "The model did not answer.") }}>
      <RenameDialog chat={chat("Old title")} onRename={async () => {}} onClose={() => {}} />
    </Answered>
  ),
  play: async () => {
    const dialog = within(await within(document.body).findByRole("dialog"))
    await userEvent.click(dialog.getByRole("button", { name: "Propose a title" }))
    await expect(await dialog.findByText("The model did not answer.")).toBeVisible()
    await expect(dialog.getByRole("textbox", { name: "Title" })).toHaveValue("Old title")
  },
}

export const AskingForATitle: Story = {
  render: () => (
    <Answered answers={{ [propose]: unanswered }}>
      <RenameDialog chat={chat("Old title")} onRename={async () => {}} onClose={() => {}} />
    </Answered>
  ),
  play: async () => {
    const dialog = within(await within(document.body).findByRole("dialog"))
    await userEvent.click(dialog.getByRole("button", { name: "Propose a title" }))
    await expect(await dialog.findByText("Asking the model")).toBeVisible()
  },
}

const mia = { id: "u", username: "mia", display_name: "Mia", role: "member" } as User

export const Person: Story = {
  render: () => (
    <Answered answers={{}}>
      <UserMenu me={mia} onShortcuts={() => {}} />
    </Answered>
  ),
  play: async ({ canvas }) => {
    await userEvent.click(await canvas.findByRole("button", { name: "Mia" }))
    const menu = within(await within(document.body).findByRole("menu"))
    for (const name of ["Usage", "Workspaces", "Theme", "Notifications", "Keyboard shortcuts", "Sign out"]) {
      await waitFor(() => expect(menu.getByRole("menuitem", { name: new RegExp(name) })).toBeVisible())
    }
    await userEvent.keyboard("{Escape}")
  },
}
