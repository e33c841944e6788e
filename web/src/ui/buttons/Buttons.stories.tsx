import type { Meta, StoryObj } from "@storybook/react-vite"
import { Archive, Pin, Send, Settings, Trash2 } from "lucide-react"
import { expect, fn, screen, spyOn, userEvent, waitFor, within } from "storybook/test"
import { Row, Rows } from "../StoryFrame"
import { Button, ButtonLink } from "./Button"
import { CopyButton } from "./CopyButton"
import { IconButton } from "./IconButton"

const meta: Meta = { title: "ui/Buttons" }
export default meta
type Story = StoryObj

const pressed = fn()

function AllKinds() {
  return (
    <Rows>
      <Row>
        <Button kind="primary" icon={Send} onClick={pressed}>
          Send
        </Button>
        <Button icon={Archive}>Archive</Button>
        <Button kind="quiet">Show more</Button>
        <Button kind="danger" icon={Trash2}>
          Delete
        </Button>
        <ButtonLink href="#settings">Open settings</ButtonLink>
      </Row>
      <Row>
        <Button kind="primary" size="small">
          Save
        </Button>
        <Button size="small">Cancel</Button>
        <Button size="small" kind="quiet">
          Fork
        </Button>
      </Row>
      <Row>
        <Button disabled>Not now</Button>
        <Button kind="primary" disabled>
          Not now
        </Button>
        <Button kind="primary" isBusy busyText="Saving" onClick={pressed}>
          Save
        </Button>
      </Row>
    </Rows>
  )
}

export const Kinds: Story = {
  render: () => <AllKinds />,
  play: async ({ canvas }) => {
    pressed.mockClear()
    await userEvent.click(canvas.getByRole("button", { name: "Send" }))
    await expect(pressed).toHaveBeenCalledOnce()
    const busy = canvas.getByRole("button", { name: "Saving" })
    await userEvent.click(busy)
    await expect(pressed).toHaveBeenCalledOnce()
    busy.focus()
    await expect(busy).toHaveFocus()
    await expect(canvas.getByRole("link", { name: "Open settings" })).toBeVisible()
  },
}

export const KindsDark: Story = { ...Kinds, globals: { theme: "dark" } }

function AllIcons() {
  return (
    <Rows>
      <Row>
        <IconButton name="Open settings" icon={Settings} shortcut="Mod+," onClick={pressed} />
        <IconButton name="Pin" icon={Pin} isPressed onClick={pressed} />
        <IconButton name="Send" icon={Send} kind="primary" />
        <IconButton name="Archive" icon={Archive} kind="plain" />
        <IconButton name="Delete" icon={Trash2} kind="danger" size="small" />
        <IconButton name="Attach" icon={Pin} disabled />
        <IconButton name="Refresh" icon={Pin} isBusy onClick={pressed} />
      </Row>
    </Rows>
  )
}

export const Icons: Story = {
  render: () => <AllIcons />,
  play: async ({ canvas }) => {
    await expect(canvas.getByRole("button", { name: "Pin" })).toHaveAttribute("aria-pressed", "true")
    const settings = canvas.getByRole("button", { name: "Open settings" })
    await expect(settings).toHaveAttribute("aria-keyshortcuts")
    await userEvent.tab()
    await expect(settings).toHaveFocus()
    const tip = await screen.findByText("Open settings")
    await waitFor(() => expect(within(tip.parentElement ?? tip).getByText(",")).toBeVisible())
  },
}

export const IconsDark: Story = { ...Icons, globals: { theme: "dark" } }

export const Copying: Story = {
  render: () => (
    <Rows>
      <CopyButton text="npm test" isWordShown />
    </Rows>
  ),
  play: async ({ canvas }) => {
    const written = spyOn(navigator.clipboard, "writeText").mockResolvedValue()
    await userEvent.click(canvas.getByRole("button", { name: "Copy" }))
    await expect(await canvas.findByRole("button", { name: "Copied" })).toBeVisible()
    await expect(written).toHaveBeenCalledWith("npm test")
  },
}
