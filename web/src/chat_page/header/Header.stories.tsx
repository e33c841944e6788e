import type { Meta, StoryObj } from "@storybook/react-vite"
import { useState } from "react"
import { expect, fn, userEvent, within } from "storybook/test"
import { queries } from "../../api/queries"
import type { Chat, ChatMessage, ChatMessageUsage, WorkspaceSummary } from "../../api/schema"
import { newestId } from "../../chat"
import { asked, call, message, picture, result, said } from "../../chat/testing/made"
import { shownChat } from "../../chat/testing/opened"
import type { PanelOpening } from "../../panel/opening"
import { chatRecord, modelConfig } from "../testing/made_chat"
import { StoryQueries } from "../testing/StoryQueries"
import { ChatHeader } from "./ChatHeader"

const meta: Meta = { title: "chat/Header" }
export default meta
type Story = StoryObj

/** For what is loaded when it is asked for. */
const loaded = { timeout: 10_000 }
const shownTab = fn()
const panel: PanelOpening = { isOpen: false, isSheet: false, isFull: false, tab: "diff", show: shownTab, toggle: fn(), close: fn(), fill: fn() }

/** An answer after which the context holds so many tokens of 200,000. */
const answer = (tokens: number): ChatMessage => ({ ...said(2), usage: { input_tokens: tokens - 100, output_tokens: 100, context_limit: 200_000 } as ChatMessageUsage })

function Shown({ chat = chatRecord(), messages, isMine = true }: { chat?: Chat; messages: ChatMessage[]; isMine?: boolean }) {
  const of = picture(messages)
  const [opened] = useState(() => shownChat(of))
  const known = [
    [queries.chatCost(chat.id, newestId(messages)).queryKey, { chat_id: chat.id, total_cost_micros: 1_234_000, request_count: 12, unpriced_request_count: 2 }],
    [queries.models.queryKey, [modelConfig("m0")]],
    [["compaction-thresholds"], { thresholds: [] }],
  ] as const
  return (
    <StoryQueries known={known}>
      <main>
        <ChatHeader chat={chat} picture={of} opener={null} opened={opened} panel={panel} isMine={isMine} />
      </main>
    </StoryQueries>
  )
}

export const Usual: Story = {
  render: () => <Shown messages={[asked(1), answer(50_000)]} />,
  play: async ({ canvas }) => {
    await expect(canvas.getByRole("heading", { level: 1 })).toHaveTextContent("Why the server does not start")
    await expect(canvas.getByRole("button", { name: "Context: 50,000 of 200,000 tokens (25 %)" })).toBeVisible()
    await userEvent.click(canvas.getByRole("button", { name: "Cost of this chat: $1.23" }))
    const costs = await within(document.body).findByRole("dialog", { name: "Cost of this chat" })
    await expect(costs).toHaveTextContent("2 answers have no price and are not in it.")
    await expect(costs).toHaveTextContent("$0.12")
  },
}

export const UsualDark: Story = { ...Usual, globals: { theme: "dark" } }

export const NothingAnsweredYet: Story = {
  render: () => <Shown messages={[asked(1)]} />,
  play: async ({ canvas }) =>
    expect(canvas.getByRole("button", { name: "Context: How full the context is will be known after the next answer." })).toBeVisible(),
}

export const AfterCompaction: Story = {
  render: () => <Shown messages={[asked(1), answer(190_000), message(3, "assistant", call("s", "chat_summarized", {})), message(4, "tool", result("s", { summary: "It was about a server." }))]} />,
  play: async ({ canvas }) => expect(canvas.getByRole("button", { name: /^Context: How full/ })).toBeVisible(),
}

export const NearlyFull: Story = {
  render: () => <Shown messages={[asked(1), answer(192_000)]} />,
  play: async ({ canvas }) => {
    await userEvent.click(canvas.getByRole("button", { name: "Context: 192,000 of 200,000 tokens (96 %)" }))
    const summary = await within(document.body).findByRole("dialog", { name: "Context" })
    await expect(await within(summary).findByText("Summarized by itself at 80 % (160,000 tokens).", {}, loaded)).toBeInTheDocument()
  },
}

export const Drifted: Story = {
  render: () => <Shown chat={chatRecord({ context_dirty_since: "2026-01-01T12:00:00Z" })} messages={[asked(1), answer(1000)]} />,
  play: async ({ canvas }) => {
    await userEvent.click(canvas.getByRole("button", { name: /^Context: 1,000/ }))
    const summary = await within(document.body).findByRole("dialog", { name: "Context" })
    await expect(await within(summary).findByRole("button", { name: "Refresh" }, loaded)).toBeInTheDocument()
  },
}

export const InAWorkspace: Story = {
  render: () => (
    <Shown
      chat={chatRecord({ workspace_id: "w", workspace: { id: "w", name: "mine", state: "stopped", template_name: "local" } as WorkspaceSummary })}
      messages={[asked(1)]}
    />
  ),
  play: async ({ canvas }) => {
    await userEvent.click(canvas.getByRole("button", { name: "Workspace mine Stopped" }))
    const page = within(document.body)
    await expect(await page.findByRole("menuitem", { name: "Start" })).toBeEnabled()
    await expect(page.getByRole("menuitem", { name: "Open a terminal" })).toHaveAttribute("aria-disabled", "true")
    await expect(page.getByRole("menuitem", { name: "Work without it" })).toBeInTheDocument()
  },
}

export const OfSomeoneElse: Story = {
  render: () => <Shown messages={[asked(1)]} isMine={false} />,
  play: async ({ canvas }) => expect(canvas.queryByRole("button", { name: "Actions" })).toBeNull(),
}
