import type { Meta, StoryObj } from "@storybook/react-vite"
import { Archive, Copy, Folder, MoreHorizontal, Pencil, Trash2 } from "lucide-react"
import { useState } from "react"
import { expect, fireEvent, fn, screen, userEvent, waitFor } from "storybook/test"
import { Button } from "../buttons/Button"
import { IconButton } from "../buttons/IconButton"
import { Field } from "../inputs/Field"
import { TextInput } from "../inputs/TextInput"
import { Row, Rows } from "../StoryFrame"
import { ContextMenu } from "./ContextMenu"
import { Dialog, Sheet } from "./Dialog"
import { Menu } from "./Menu"
import type { MenuEntry } from "./menu_items"
import { Popover } from "./Popover"
import { closeToast, toast } from "./toast"

const meta: Meta = { title: "ui/Floating" }
export default meta
type Story = StoryObj

const run = fn()
const choose = fn()

const entries: MenuEntry[] = [
  { label: "Rename", icon: Pencil, shortcut: "F2", run: () => run("rename") },
  { label: "Copy link", icon: Copy, hint: "Only you can open it", run: () => run("copy") },
  { label: "Move to", icon: Folder, entries: [{ label: "Work", run: () => run("work") }] },
  "line",
  { heading: "Order" },
  { label: "Newest first", isChecked: true, isOneOf: true, choose: () => choose("newest") },
  { label: "By name", isChecked: false, isOneOf: true, choose: () => choose("name") },
  "line",
  { label: "Show archived", isChecked: false, choose: () => choose("archived") },
  { label: "Archive", icon: Archive, isDisabled: true, run },
  { label: "Delete", icon: Trash2, isDanger: true, run: () => run("delete") },
]

export const MenuOpen: Story = {
  render: () => (
    <Rows>
      <Menu entries={entries}>
        <IconButton name="More" icon={MoreHorizontal} />
      </Menu>
    </Rows>
  ),
  play: async ({ canvas }) => {
    run.mockClear()
    choose.mockClear()
    const button = canvas.getByRole("button", { name: "More" })
    button.focus()
    await userEvent.keyboard("{Enter}")
    await waitFor(() => expect(screen.getByRole("menuitem", { name: /Rename/ })).toHaveFocus())
    await userEvent.keyboard("{Enter}")
    await expect(run).toHaveBeenLastCalledWith("rename")
    await waitFor(() => expect(button).toHaveFocus())
    await userEvent.click(button)
    await userEvent.click(await screen.findByRole("menuitemradio", { name: "By name" }))
    await expect(choose).toHaveBeenLastCalledWith("name")
    await waitFor(() => expect(screen.queryByRole("menu")).toBeNull())
    await userEvent.click(button)
    await screen.findByRole("menuitem", { name: /Delete/ })
  },
}

export const MenuOpenDark: Story = { ...MenuOpen, globals: { theme: "dark" } }

export const OnRightClick: Story = {
  render: () => (
    <Rows>
      <ContextMenu entries={entries}>
        <p>A chat in a list</p>
      </ContextMenu>
    </Rows>
  ),
  play: async ({ canvas }) => {
    await fireEvent.contextMenu(canvas.getByText("A chat in a list"))
    await waitFor(() => expect(screen.getByRole("menuitem", { name: /Rename/ })).toBeVisible())
    await userEvent.keyboard("{Escape}")
    await waitFor(() => expect(screen.queryByRole("menu")).toBeNull())
  },
}

export const PopoverOpen: Story = {
  render: () => (
    <Rows>
      <Popover trigger={<Button>Context 41 %</Button>} label="Context">
        <p>82,000 of 200,000 tokens.</p>
      </Popover>
    </Rows>
  ),
  play: async ({ canvas }) => {
    await userEvent.click(canvas.getByRole("button"))
    await waitFor(() => expect(screen.getByRole("dialog", { name: "Context" })).toBeVisible())
  },
}

function RenameDialog() {
  const [isOpen, setIsOpen] = useState(false)
  return (
    <Rows>
      <Button onClick={() => setIsOpen(true)}>Rename</Button>
      <Dialog
        isOpen={isOpen}
        onClose={() => setIsOpen(false)}
        title="Rename the chat"
        text="The new name is seen by everybody who can see the chat."
        actions={
          <>
            <Button onClick={() => setIsOpen(false)}>Cancel</Button>
            <Button kind="primary" onClick={() => setIsOpen(false)}>
              Rename
            </Button>
          </>
        }
      >
        <Field label="Name">
          <TextInput defaultValue="Fix the flaky test" />
        </Field>
      </Dialog>
    </Rows>
  )
}

export const DialogOpen: Story = {
  render: () => <RenameDialog />,
  play: async ({ canvas }) => {
    const opener = canvas.getByRole("button", { name: "Rename" })
    await userEvent.click(opener)
    await waitFor(() => expect(screen.getByRole("dialog", { name: "Rename the chat" })).toBeVisible())
    await userEvent.keyboard("{Escape}")
    await waitFor(() => expect(screen.queryByRole("dialog")).toBeNull())
    await waitFor(() => expect(opener).toHaveFocus())
    await userEvent.click(opener)
    await screen.findByRole("textbox", { name: "Name" })
  },
}

export const DialogOpenDark: Story = { ...DialogOpen, globals: { theme: "dark" } }

function SideSheet({ side }: { side: "left" | "right" | "bottom" }) {
  const [isOpen, setIsOpen] = useState(true)
  return (
    <Rows>
      <Button onClick={() => setIsOpen(true)}>Open</Button>
      <Sheet isOpen={isOpen} onClose={() => setIsOpen(false)} title="Chats" side={side}>
        <p>What is inside.</p>
      </Sheet>
    </Rows>
  )
}

export const SheetOpen: Story = {
  render: () => <SideSheet side="left" />,
  play: async () => {
    await waitFor(() => expect(screen.getByRole("dialog", { name: "Chats" })).toBeVisible())
    await userEvent.click(screen.getByRole("button", { name: "Close" }))
    await waitFor(() => expect(screen.queryByRole("dialog")).toBeNull())
  },
}

const undone = fn()

export const Toasts: Story = {
  render: () => (
    <Rows>
      <Row>
        <Button onClick={() => toast("Chat archived", { id: "archived", action: { label: "Undo", run: undone } })}>Archive</Button>
        <Button
          onClick={() => toast("The chat could not be archived", { id: "failed", kind: "error", text: "Nothing has changed. Try again." })}
        >
          Fail
        </Button>
      </Row>
    </Rows>
  ),
  play: async ({ canvas }) => {
    undone.mockClear()
    await userEvent.click(canvas.getByRole("button", { name: "Archive" }))
    await userEvent.click(await screen.findByRole("button", { name: "Undo" }))
    await expect(undone).toHaveBeenCalledOnce()
    await waitFor(() => expect(screen.queryByRole("button", { name: "Undo" })).toBeNull())
    await userEvent.click(canvas.getByRole("button", { name: "Fail" }))
    await userEvent.click(canvas.getByRole("button", { name: "Archive" }))
    // An error is also read aloud from a place that nobody sees.
    await waitFor(() => expect(screen.getByText("Nothing has changed. Try again.", { selector: "p" })).toBeVisible())
    await waitFor(() => expect(screen.getByRole("button", { name: "Undo" })).toBeVisible())
  },
  beforeEach: () => () => ["archived", "failed"].forEach(closeToast),
}

export const ToastsDark: Story = { ...Toasts, globals: { theme: "dark" } }

function HeadlessSheet() {
  return (
    <Sheet isOpen onClose={run} title="Chats" side="left" isTitleHidden>
      <Button>New chat</Button>
    </Sheet>
  )
}

export const SheetWithoutTitle: Story = {
  render: () => <HeadlessSheet />,
  play: async () => {
    run.mockClear()
    await waitFor(() => expect(screen.getByRole("button", { name: "New chat" })).toHaveFocus())
    await userEvent.tab()
    await expect(screen.getByRole("button", { name: "Close" })).toHaveFocus()
    await userEvent.keyboard("{Escape}")
    await expect(run).toHaveBeenCalledOnce()
  },
}
