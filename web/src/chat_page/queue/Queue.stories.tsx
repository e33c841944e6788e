import type { Meta, StoryObj } from "@storybook/react-vite"
import { useState } from "react"
import { expect, userEvent } from "storybook/test"
import type { ChatQueuedMessage } from "../../api/schema"
import { keptText } from "../../browser/kept"
import { draftOf, nothingSent } from "../../chat"
import { asked, chatId, picture } from "../../chat/testing/made"
import { type ShownChat, shownChat } from "../../chat/testing/opened"
import { Queue } from "./Queue"

const meta: Meta = { title: "chat/Queue" }
export default meta
type Story = StoryObj

let chats = 0
let opened: ShownChat

const waits = (id: number, text: string, more: Partial<ChatQueuedMessage> = {}): ChatQueuedMessage => ({
  id,
  chat_id: chatId,
  content: [{ type: "text", text }],
  created_at: "2026-01-01T12:00:00Z",
  ...more,
})

function Shown({ queue, edited }: { queue: ChatQueuedMessage[]; edited?: { id: number; before: string; text: string } }) {
  const of = { ...picture([asked(1)], "running"), queue }
  const [chat] = useState(() => {
    const made = { ...shownChat(of), chatId: `story-queue-${(chats += 1)}` }
    if (edited) keptText("draft", `${made.chatId}.queued`).set(JSON.stringify(edited))
    return made
  })
  opened = chat
  return (
    <main>
      <Queue opened={chat} picture={of} overlay={nothingSent} isRead />
    </main>
  )
}

export const None: Story = {
  render: () => <Shown queue={[]} />,
  play: async ({ canvas }) => expect(canvas.queryByRole("region")).toBeNull(),
}

export const One: Story = {
  render: () => <Shown queue={[waits(1, "And then run the tests")]} />,
  play: async ({ canvas }) => {
    await expect(canvas.getByRole("button", { name: "Move up" })).toBeDisabled()
    await expect(canvas.getByRole("button", { name: "Move down" })).toBeDisabled()
    await userEvent.click(canvas.getByRole("button", { name: "Send now" }))
    await expect(opened.asked.at(-1)?.route).toBe("POST /api/experimental/chats/{chat}/queue/{queued}/promote")
  },
}

export const Many: Story = {
  render: () => <Shown queue={[waits(1, "One"), waits(2, "Two, which is so long that there is no room for all of it ".repeat(4)), waits(3, "Three")]} />,
  play: async ({ canvas }) => {
    const [, second] = canvas.getAllByRole("button", { name: "Move down" })
    if (second) await userEvent.click(second)
    await expect(opened.asked.at(-1)).toMatchObject({ route: "PUT /api/experimental/chats/{chat}/queue", with: { body: { ids: [1, 3, 2] } } })
  },
}

export const ManyDark: Story = { ...Many, globals: { theme: "dark" } }

export const Held: Story = {
  render: () => <Shown queue={[waits(1, "Held by another tab", { held_until: "2999-01-01T00:00:00Z" }), waits(2, "Not held")]} />,
  play: async ({ canvas }) => expect(canvas.getAllByText("Being edited")).toHaveLength(1),
}

export const Edited: Story = {
  render: () => <Shown queue={[waits(1, "One"), waits(2, "Two")]} edited={{ id: 2, before: "Two", text: "Two, better" }} />,
  play: async ({ canvas }) => {
    const box = canvas.getByRole("textbox", { name: "Edit" })
    await expect(box).toHaveValue("Two, better")
    await expect(canvas.getByRole("button", { name: "Edit" })).toBeDisabled() // of the other one
    await expect(opened.asked.at(-1)?.route).toBe("POST /api/experimental/chats/{chat}/queue/{queued}/hold")
    await userEvent.type(box, " still{Enter}")
    await expect(opened.asked.at(-1)).toMatchObject({
      route: "POST /api/experimental/chats/{chat}/queue/{queued}/release",
      with: { body: { content: [{ type: "text", text: "Two, better still" }] } },
    })
  },
}

function SentAtOnce() {
  const [queue, setQueue] = useState([waits(2, "Two")])
  return (
    <>
      <Shown queue={queue} edited={{ id: 2, before: "Two", text: "Two, better" }} />
      <button type="button" onClick={() => setQueue([])}>
        The stream tells that it was sent
      </button>
    </>
  )
}

/** The stream is faster than the answer: what was saved does not come back as words that were not. */
export const SentBeforeTheAnswer: Story = {
  render: () => <SentAtOnce />,
  play: async ({ canvas }) => {
    await userEvent.type(canvas.getByRole("textbox", { name: "Edit" }), "{Enter}")
    await expect(opened.asked.at(-1)?.route).toBe("POST /api/experimental/chats/{chat}/queue/{queued}/release")
    await userEvent.click(canvas.getByRole("button", { name: "The stream tells that it was sent" }))
    await expect(canvas.queryByRole("region")).toBeNull()
    await expect(draftOf(opened.chatId).getState().text).toBe("")
  },
}
