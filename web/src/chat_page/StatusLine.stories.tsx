import type { Meta, StoryObj } from "@storybook/react-vite"
import { useState } from "react"
import { expect, userEvent } from "storybook/test"
import type { LiveStatus } from "../chat"
import { asked, picture } from "../chat/testing/made"
import { type ShownChat, shownChat } from "../chat/testing/opened"
import { words } from "../words"
import { StatusLine } from "./StatusLine"

const meta: Meta = { title: "chat/StatusLine" }
export default meta
type Story = StoryObj

let opened: ShownChat

function Shown({ of, isMine = true }: { of: LiveStatus; isMine?: boolean }) {
  const [chat] = useState(() => shownChat(picture([asked(1)])))
  opened = chat
  return (
    <main>
      <StatusLine status={of} opened={chat} isMine={isMine} />
    </main>
  )
}

const saying = (of: LiveStatus, text: string | RegExp): Story => ({
  render: () => <Shown of={of} />,
  play: async ({ canvas }) => expect(await canvas.findByText(text)).toBeVisible(),
})

export const Idle: Story = {
  render: () => <Shown of={{ phase: "idle" }} />,
  play: async ({ canvas }) => expect(canvas.getByRole("main")).toBeEmptyDOMElement(),
}
export const Starting = saying({ phase: "starting" }, "Thinking")
export const Interrupting = saying({ phase: "interrupting" }, "Stopping")
export const WaitsForRoom = saying({ phase: "queued" }, /Waiting for room/)
export const NeedsYou = saying({ phase: "needs_you", calls: [] }, /Waiting for results/)
export const Reconnecting = saying({ phase: "reconnecting", attempt: 2, until: null }, "The connection was lost. Coming back.")

const retry = { attempt: 3, delay_ms: 20_000, error: "Anthropic is temporarily overloaded.", kind: "overloaded", provider: "anthropic", retrying_at: "2999-01-01T00:00:00Z" }
export const Retrying = saying({ phase: "retrying", retry }, /^Trying again in [\d,]+ s \(3 of 25\)\.$/)
export const RetryingDark: Story = { ...Retrying, globals: { theme: "dark" } }

const failing = (kind: string): Story => ({
  render: () => <Shown of={{ phase: "failed", error: { message: "What the provider said.", retryable: false, kind, detail: "request_id: 7", status_code: 500 } }} />,
  play: async ({ canvas }) => {
    const banner = canvas.getByRole("alert")
    await expect(banner).toHaveTextContent(words.chat.errors[kind] ?? "no words for it")
    await expect(banner).toHaveTextContent(words.chat.errorHints[kind] ?? "no hint for it")
    await expect(banner).toHaveTextContent("500: request_id: 7")
  },
})

export const FailedAuth = failing("auth")
export const FailedConfig = failing("config")
export const FailedContentFilter = failing("content_filter")
export const FailedGeneric: Story = {
  ...failing("generic"),
  play: async (context) => {
    await failing("generic").play?.(context)
    await userEvent.click(context.canvas.getByRole("button", { name: "Go on" }))
    await expect(opened.asked.at(-1)?.route).toBe("POST /api/experimental/chats/{chat}/messages")
  },
}
export const FailedOverloaded = failing("overloaded")
export const FailedRateLimit = failing("rate_limit")
export const FailedStart = failing("startup_timeout")
export const FailedSilence = failing("stream_silence_timeout")
export const FailedTimeout = failing("timeout")
export const FailedUsageLimit = failing("usage_limit")
export const FailedDark: Story = { ...failing("auth"), globals: { theme: "dark" } }

export const FailedOfSomeoneElse: Story = {
  render: () => <Shown of={{ phase: "failed", error: { message: "No.", retryable: false } }} isMine={false} />,
  play: async ({ canvas }) => expect(canvas.queryByRole("button", { name: "Go on" })).toBeNull(),
}
