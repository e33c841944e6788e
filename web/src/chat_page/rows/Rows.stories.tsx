import type { Meta, StoryObj } from "@storybook/react-vite"
import { useState } from "react"
import { expect, spyOn, userEvent, waitFor } from "storybook/test"
import type { Part } from "../../api/events"
import { allRows, draftOf, nothingSent, type Overlay, type Picture, timeline } from "../../chat"
import { asked, call, message, picture, result, said, text, thought } from "../../chat/testing/made"
import { shownChat } from "../../chat/testing/opened"
import { Button } from "../../ui/buttons/Button"
import { TimelineRowView } from "./TimelineRowView"

const meta: Meta = { title: "chat/Rows" }
export default meta
type Story = StoryObj

let chats = 0

/** Each story has a chat of its own: lines remember by it whether they are open. */
function Shown({ of, overlay = nothingSent, isMine = true }: { of: Picture; overlay?: Overlay; isMine?: boolean }) {
  const [opened] = useState(() => ({ ...shownChat(of, { overlay }), chatId: `story${(chats += 1)}` }))
  return (
    <main data-chat={opened.chatId}>
      {allRows(timeline(of, overlay)).map((row) => (
        <TimelineRowView key={row.key} row={row} opened={opened} isMine={isMine} />
      ))}
    </main>
  )
}

const dot = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
const image: Part = { type: "file", media_type: "image/png", name: "dot.png", data: dot }
const lost: Part = { type: "file", media_type: "image/png", name: "old.png", file_id: "gone" }
const report: Part = { type: "file", media_type: "application/pdf", name: "report.pdf", file_id: "gone" }
const reference: Part = { type: "file-reference", file_name: "src/serve.ts", start_line: 3, end_line: 4, content: "const port = 0\nlisten(port)" }
const turn = picture([asked(1, "Why does the server\nnot start?"), said(2, "The **port** is taken.\n\n- by `nginx`\n- since this morning")])

export const Conversation: Story = {
  render: () => <Shown of={turn} />,
  play: async ({ canvas }) => {
    const mine = canvas.getByRole("article", { name: "You" })
    await expect(mine).toHaveTextContent("Why does the server not start?")
    await expect(getComputedStyle(canvas.getByText(/Why does the server/)).fontWeight).toBe("600")
    await userEvent.tab()
    await expect(canvas.getByRole("button", { name: "Copy" })).toHaveFocus()
    await waitFor(() => expect(canvas.getByRole("button", { name: "Copy" })).toBeVisible())
    await userEvent.click(canvas.getByRole("button", { name: "Edit" }))
    const draft = draftOf(canvas.getByRole("main").dataset["chat"] ?? "")
    await expect(draft.getState().editing?.messageId).toBe(1)
    await expect(mine).toHaveTextContent("Being edited")
    await expect(canvas.getByRole("button", { name: "Copy answer" })).toBeInTheDocument()
  },
}

export const ConversationDark: Story = { ...Conversation, globals: { theme: "dark" } }

export const OfSomeoneElse: Story = {
  render: () => <Shown of={turn} isMine={false} />,
  play: async ({ canvas }) => {
    await expect(canvas.queryByRole("button", { name: "Edit" })).toBeNull()
    await expect(canvas.getAllByRole("button", { name: "Fork from here" })[0]).toBeInTheDocument()
  },
}

export const Attached: Story = {
  beforeEach: () => {
    spyOn(window, "fetch").mockImplementation(async () => Response.json({ message: "No such file." }, { status: 404 }))
  },
  render: () => <Shown of={picture([message(1, "user", reference, text("Look at this"), image, lost, report), message(2, "assistant", text("Here."), image)])} />,
  play: async ({ canvas }) => {
    for (const one of canvas.getAllByRole("img", { name: "dot.png" })) await expect(one.parentElement?.offsetHeight).toBe(180)
    const missing = await canvas.findByText("Not kept any more")
    await expect(missing.parentElement).toHaveTextContent("old.png")
    await expect(missing.parentElement?.offsetHeight).toBe(180)
    await userEvent.click(canvas.getByRole("link", { name: "report.pdf" }))
    await waitFor(() => expect(canvas.getAllByText("Not kept any more")).toHaveLength(2))
    await userEvent.click(canvas.getByRole("button", { name: /serve.ts lines 3–4/ }))
    await waitFor(() => expect(document.body).toHaveTextContent("listen(port)"))
  },
}

/** What is said about lines stands beside them. */
export const Remarks: Story = {
  render: () => (
    <Shown of={picture([message(1, "user", reference, text("Why zero?"), { ...reference, start_line: 9, end_line: 9 }, text("Close it too."), text("Then we can ship."))])} />
  ),
  play: async ({ canvas }) => expect(canvas.getByRole("article", { name: "You" })).toHaveTextContent(/lines 3–4Why zero\?.*line 9Close it too\..*Then we can ship\./),
}

export const AttachedDark: Story = { ...Attached, globals: { theme: "dark" } }

const shell = (id: string, command: string, exit = 0) => [
  message(Number(id), "assistant", call(id, "execute", { command })),
  message(Number(id) + 1, "tool", result(id, { success: exit === 0, exit_code: exit, wall_duration_ms: 1200, output: command })),
]

const worked = picture([
  asked(1, "Run everything"),
  message(2, "assistant", thought("I should look **first**."), call("2", "execute", { command: "ls" })),
  message(3, "tool", result("2", { success: true, exit_code: 0, wall_duration_ms: 20, output: "a" })),
  ...shell("4", "make lint"),
  ...shell("6", "make test", 2),
  ...shell("8", "make build"),
  ...shell("10", "make run"),
  said(12, "All but one worked."),
])

/** Of many steps the last two stand; the others are behind one line. */
export const Steps: Story = {
  render: () => <Shown of={worked} />,
  play: async ({ canvas }) => {
    const earlier = canvas.getByRole("button", { name: /^4 earlier steps 1 failed/ })
    await expect(canvas.queryByText("make lint")).toBeNull()
    earlier.focus()
    await userEvent.keyboard("{Enter}")
    await expect(canvas.getByText("make lint")).toBeVisible()
    await userEvent.click(canvas.getByRole("button", { name: /^Thought/ }))
    await expect(canvas.getByText("first")).toBeVisible()
    await expect(canvas.getByRole("button", { name: /Ran make run/ })).toBeVisible()
  },
}

export const StepsDark: Story = { ...Steps, globals: { theme: "dark" } }

const all = allRows(timeline(worked, nothingSent)).find((row) => row.kind === "steps")

function Growing() {
  const [count, setCount] = useState(3)
  const [opened] = useState(() => ({ ...shownChat(worked), chatId: `story${(chats += 1)}` }))
  return (
    <main>
      <Button onClick={() => setCount(6)}>More</Button>
      {all?.kind === "steps" && <TimelineRowView row={{ ...all, steps: all.steps.slice(0, count) }} opened={opened} isMine />}
    </main>
  )
}

/** A line that somebody has opened is not folded away when others come. */
export const StepsComing: Story = {
  render: () => <Growing />,
  play: async ({ canvas }) => {
    await userEvent.click(canvas.getByRole("button", { name: /Ran make lint/ }))
    await expect(canvas.getByRole("group", { name: "Output of make lint" })).toBeVisible()
    await userEvent.click(canvas.getByRole("button", { name: "More" }))
    await expect(canvas.getByRole("button", { name: /Ran make run/ })).toBeVisible()
    await expect(canvas.getByRole("group", { name: "Output of make lint" })).toBeVisible()
    await expect(canvas.queryByRole("button", { name: /earlier steps/ })).toBeNull()
  },
}

const summary = { summary: "## Goal\n\nA server that starts.", source: "manual", usage_percent: 71.6 }
const compacted = (...parts: Part[]) => picture([asked(1), said(2), message(3, "assistant", call("c", "chat_summarized", { source: "manual" })), ...(parts.length > 0 ? [message(4, "tool", ...parts)] : [])], parts.length > 0 ? "waiting" : "running")

export const Summarizing: Story = {
  render: () => <Shown of={compacted()} />,
  play: async ({ canvas }) => expect(canvas.getByRole("status")).toHaveTextContent("Summarizing…"),
}

export const Summarized: Story = {
  render: () => <Shown of={compacted(result("c", summary))} />,
  play: async ({ canvas }) => {
    const line = canvas.getByRole("button", { name: "Summarized on request the context was 72 % full" })
    line.focus()
    await userEvent.keyboard("{Enter}")
    await expect(canvas.getByText("A server that starts.")).toBeVisible()
    await expect(canvas.getByText(/what came before stays readable/)).toBeVisible()
  },
}

export const SummarizedDark: Story = { ...Summarized, globals: { theme: "dark" } }

export const NotSummarized: Story = {
  render: () => <Shown of={picture([asked(21), message(22, "assistant", call("c", "chat_summarized")), message(23, "tool", result("c", { error: "The model did not answer." }, true))])} />,
  play: async ({ canvas }) => {
    await userEvent.click(canvas.getByRole("button", { name: "The conversation could not be summarized" }))
    await expect(canvas.getByText("The model did not answer.")).toBeVisible()
  },
}

export const Asides: Story = {
  render: () => (
    <Shown
      of={picture([
        message(
          31,
          "user",
          text("What does the manual say?"),
          { type: "context-file", context_file_path: "/home/dev/AGENTS.md", context_file_truncated: true },
          { type: "skill", skill_name: "release", skill_description: "How to make a release." },
        ),
        message(
          32,
          "assistant",
          text("It says nothing."),
          { type: "source", url: "https://example.org/manual", title: "The manual" },
          { type: "source", url: "file:///secret", title: "" },
        ),
        message(33, "system", text("The model was changed to Demo.")),
      ])}
    />
  ),
  play: async ({ canvas }) => {
    await userEvent.click(canvas.getByRole("button", { name: "1 instruction file and 1 skill read from the workspace" }))
    await expect(canvas.getByText("/home/dev/AGENTS.md")).toBeVisible()
    await expect(canvas.getByText("only its beginning")).toBeVisible()
    await userEvent.click(canvas.getByRole("button", { name: "2 sources" }))
    await expect(canvas.getByRole("link", { name: "The manual" })).toHaveAttribute("href", "https://example.org/manual")
    await expect(canvas.queryByRole("link", { name: "file:///secret" })).toBeNull()
    await expect(canvas.getByRole("note")).toHaveTextContent("The model was changed to Demo.")
  },
}

export const AsidesDark: Story = { ...Asides, globals: { theme: "dark" } }

const content = [{ type: "text" as const, text: "And now?" }, { type: "file" as const, file_id: "f1" }]
const send = { key: "k1", content, options: {}, replaces: null, mayBeDone: false, problem: null, message: null, queued: null, newestBefore: 2, queueBefore: [] }

export const Sending: Story = {
  render: () => (
    <Shown
      of={turn}
      overlay={{
        ...nothingSent,
        sends: [
          { ...send, state: "sending" },
          { ...send, key: "k2", state: "unanswered" },
        ],
      }}
    />
  ),
  play: async ({ canvas }) => {
    const [first, second] = canvas.getAllByRole("status")
    await expect(first).toHaveTextContent("Sending")
    await expect(second).toHaveTextContent("Not answered yet. Trying again; it will not be sent twice.")
    await expect(canvas.getAllByText("1 file")[0]).toBeVisible()
  },
}

export const NotSent: Story = {
  render: () => (
    <Shown of={turn} overlay={{ ...nothingSent, sends: [{ ...send, state: "failed", problem: { message: "The message is too long." } }] }} />
  ),
  play: async ({ canvas }) => {
    await expect(canvas.getByRole("alert")).toHaveTextContent("Not sent: The message is too long.")
    await expect(canvas.getByRole("button", { name: "Try again" })).toBeVisible()
    await userEvent.click(canvas.getByRole("button", { name: "Edit and send again" }))
    const draft = draftOf(canvas.getByRole("main").dataset["chat"] ?? "")
    await expect(draft.getState().text).toBe("And now?")
  },
}

export const SendingDark: Story = { ...Sending, globals: { theme: "dark" } }
