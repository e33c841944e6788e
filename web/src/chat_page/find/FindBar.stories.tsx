import type { Meta, StoryObj } from "@storybook/react-vite"
import { useRef, useState } from "react"
import { expect, fn, spyOn, userEvent, waitFor } from "storybook/test"
import { asked, picture, said } from "../../chat/testing/made"
import { shownChat } from "../../chat/testing/opened"
import type { TimelineHandle } from "../Timeline"
import { FindBar } from "./FindBar"
import { finding } from "./finding"

const meta: Meta = { title: "chat/FindBar" }
export default meta
type Story = StoryObj

const showed = fn()

function Shown() {
  const [opened] = useState(() => shownChat(picture([asked(1), said(2)])))
  const log = useRef<HTMLDivElement>(null)
  const timeline = useRef<TimelineHandle>({
    toEnd: fn(),
    show: async (id) => (showed(id), log.current),
    centre: fn(),
    step: async () => {},
    log: () => log.current,
  })
  return (
    <main>
      <FindBar opened={opened} newest={2} timeline={timeline} />
      <div ref={log}>
        <p data-message={1}>
          <span data-said>Where do owls live?</span>
        </p>
        <p data-message={2}>
          <span data-said>
            Most <strong>ow</strong>ls live in trees. Owls hunt at night.
          </span>
        </p>
      </div>
    </main>
  )
}

const answering = (body: unknown, status = 200) => () => {
  spyOn(window, "fetch").mockImplementation(async () => new Response(JSON.stringify(body), { status, headers: { "content-type": "application/json" } }))
}
const found = { messages: [{ id: 2, role: "assistant", places: 2 }, { id: 1, role: "user", places: 1 }], has_more: false }

export const Found: Story = {
  beforeEach: answering(found),
  render: () => <Shown />,
  play: async ({ canvas }) => {
    await expect(canvas.getByRole("textbox")).toHaveFocus()
    await userEvent.keyboard("owls")
    await waitFor(() => expect(canvas.getByRole("status")).toHaveTextContent("1 of 3"))
    await waitFor(() => expect(CSS.highlights.get("found")?.size).toBe(3))
    await expect([...(CSS.highlights.get("found-now") ?? [])].map(String)).toEqual(["Owls"])
    await userEvent.keyboard("{Enter}")
    await waitFor(() => expect([...(CSS.highlights.get("found-now") ?? [])].map(String)).toEqual(["owls"]))
    await userEvent.keyboard("{Shift>}{Enter}{Enter}{/Shift}")
    await waitFor(() => expect(canvas.getByRole("status")).toHaveTextContent("3 of 3"))
    await expect(showed).toHaveBeenLastCalledWith(1)
    canvas.getByRole("button", { name: "Later match" }).focus()
    await userEvent.keyboard("{Enter}")
    await waitFor(() => expect(canvas.getByRole("status")).toHaveTextContent("2 of 3"))
    finding.setState({ isOpen: true })
    canvas.getByRole("button", { name: "Close" }).focus()
    await userEvent.keyboard("{Enter}")
    await expect(finding.getState().isOpen).toBe(false)
  },
}

export const FoundDark: Story = { ...Found, globals: { theme: "dark" } }

export const NotFound: Story = {
  beforeEach: answering({ messages: [], has_more: false }),
  render: () => <Shown />,
  play: async ({ canvas }) => {
    await userEvent.type(canvas.getByRole("textbox"), "hedgehog")
    await waitFor(() => expect(canvas.getByRole("status")).toHaveTextContent("Not found"))
    await expect(canvas.getByRole("button", { name: "Earlier match" })).toBeDisabled()
  },
}

export const Refused: Story = {
  beforeEach: answering({ message: "There is no such chat." }, 404),
  render: () => <Shown />,
  play: async ({ canvas }) => {
    await userEvent.type(canvas.getByRole("textbox"), "owl")
    await waitFor(() => expect(canvas.getByRole("status")).toHaveTextContent("There is no such chat."))
  },
}
