import type { Meta, StoryObj } from "@storybook/react-vite"
import { expect, userEvent, waitFor } from "storybook/test"
import { StepsRow } from "../rows/StepsRow"
import { Rows } from "../../ui/StoryFrame"
import type { CallBlock } from "../../chat"
import { call, chatOf, interrupted, refused } from "./testing/calls"
import { Cards } from "./testing/Cards"
import { openByKeyboard } from "./testing/opening"

const meta: Meta = { title: "cards/Files" }
export default meta
type Story = StoryObj

const path = "/home/dev/chatd/src/serve.ts"
const page = (first: number, ...lines: string[]) => lines.map((line, place) => `${first + place}\t${line}\n`).join("")
const read = (args: object, given: object) =>
  call("read_file", "done", { args: { path, ...args }, result: { lines_read: 2, file_size: 90, total_lines: 2, content: page(1, "export const port = 7080", "// the end"), ...given } })

export const Reading: Story = {
  render: () => (
    <Cards
      of={[
        call("read_file", "writing", { args: { path: "/home/dev/chatd/src/ser" } }),
        call("read_file", "running", { args: { path } }),
        read({}, {}),
        read({ offset: 120, limit: 2 }, { content: page(120, "function serve() {", "\treturn 1"), total_lines: 4210, next_offset: 122 }),
        read({}, { content: "", lines_read: 0, file_size: 0, total_lines: 0 }),
        refused("read_file", { path }, "There is no file /home/dev/chatd/src/serve.ts."),
        interrupted("read_file", { path }),
      ]}
    />
  ),
  play: async ({ canvas, canvasElement }) => {
    await expect(canvas.getByText("src/ser")).toBeVisible()
    await openByKeyboard(canvas.getByRole("button", { name: "Read src/serve.ts lines 120–121 of 4,210" }))
    const box = canvas.getByRole("group", { name: `Code: ${path}` })
    await expect(box).toHaveTextContent("function serve() { return 1")
    await expect(canvasElement.querySelector("[data-number='120']")).not.toBeNull()
    await waitFor(() => expect(canvasElement.querySelector("pre span[class*=keyword]")).not.toBeNull())
    box.focus()
    await expect(box).toHaveFocus()
    await openByKeyboard(canvas.getByRole("button", { name: "Read src/serve.ts 0 lines" }))
    await expect(canvas.getByText("The file is empty.")).toBeVisible()
    await expect(canvas.getByRole("button", { name: /Could not read src\/serve.ts: There is no file/ })).toBeVisible()
    await expect(canvas.getByRole("button", { name: "Reading src/serve.ts Stopped" })).toBeVisible()
  },
}

export const ReadingDark: Story = { ...Reading, globals: { theme: "dark" } }

function Steps({ of }: { of: readonly CallBlock[] }) {
  const key = of[0]?.key ?? ""
  const row = { kind: "steps" as const, key, steps: of, isRunning: false, failed: 0, startedAt: null, endedAt: null }
  return (
    <Rows width="wide">
      <StepsRow row={row} opened={chatOf()} />
    </Rows>
  )
}

export const SeveralInARow: Story = {
  render: () => (
    <Steps
      of={[
        read({}, {}),
        read({ path: "/home/dev/README.md" }, {}),
        refused("read_file", { path: "/home/dev/missing" }, "There is no file /home/dev/missing."),
        call("execute", "done", { args: { command: "ls" }, result: { success: true, exit_code: 0, wall_duration_ms: 12, output: "a" } }),
        read({}, {}),
        call("read_file", "running", { args: { path } }),
      ]}
    />
  ),
  play: async ({ canvas }) => {
    await openByKeyboard(canvas.getByRole("button", { name: "Read 3 files 1 failed" }))
    await expect(canvas.getByRole("button", { name: /Read dev\/README.md|Read \/home\/dev\/README.md/ })).toBeVisible()
    await expect(canvas.getByRole("button", { name: /Could not read/ })).toBeVisible()
    await expect(canvas.getByRole("button", { name: /Reading 2 files/ })).toBeVisible()
  },
}

const content = "# Ports\n\nThe server listens on 7080.\n"

export const Writing: Story = {
  render: () => (
    <Cards
      of={[
        call("write_file", "writing", { args: { path: "/home/dev/README.md", content: "# Ports\n\nThe ser" } }),
        call("write_file", "running", { args: { path: "/home/dev/b.md", content } }),
        call("write_file", "done", { args: { path: "/home/dev/docs/new.md", content }, result: { ok: true, path: "/home/dev/docs/new.md", size: 38, created: true } }),
        call("write_file", "done", { args: { path: "/home/dev/docs/old.md", content }, result: { ok: true, path: "/home/dev/docs/old.md", size: 38, created: false } }),
        refused("write_file", { path: "/etc/passwd", content }, "The file can't be written: permission denied."),
        interrupted("write_file", { path: "/home/dev/d.md", content }),
      ]}
    />
  ),
  play: async ({ canvas }) => {
    await openByKeyboard(canvas.getByRole("button", { name: /Writing dev\/README.md|Writing \/home\/dev\/README.md/ }))
    await expect(await canvas.findByRole("group", { name: "Changes to /home/dev/README.md" }, { timeout: 5000 })).toHaveTextContent("The ser")
    await openByKeyboard(canvas.getByRole("button", { name: "Wrote docs/new.md new · 3 lines" }))
    const diff = await canvas.findByRole("group", { name: "Changes to /home/dev/docs/new.md" })
    await expect(diff).toHaveTextContent("The server listens on 7080.")
    await userEvent.tab()
    await expect(diff).toHaveFocus()
    await openByKeyboard(canvas.getByRole("button", { name: "Wrote docs/old.md 3 lines" }))
    await expect(await canvas.findByText(/What was there before is not known here/)).toBeVisible()
    const failed = canvas.getByRole("button", { name: /Could not write .*passwd: The file can't be written: permission denied/ })
    await openByKeyboard(failed)
    await expect(canvas.queryByRole("group", { name: "Changes to /etc/passwd" })).toBeNull()
  },
}

export const WritingDark: Story = { ...Writing, globals: { theme: "dark" } }

const edit = { old_text: "const port = 8080\nlisten(port)", new_text: "const port = 0\nlisten(port)" }
const patch = `--- ${path}\n+++ ${path}\n@@ -3,3 +3,4 @@\n import net\n-const port = 8080\n+const port = 0\n+const host = "127.0.0.1"\n listen(port)\n`
const other = "/home/dev/chatd/README.md"

export const Editing: Story = {
  render: () => (
    <Cards
      of={[
        call("edit_files", "writing"),
        call("edit_files", "running", { args: { files: [{ path, edits: [edit] }] } }),
        call("edit_files", "done", { args: { files: [{ path, edits: [edit] }] }, result: { ok: true, files: [{ path, diff: patch }] } }),
        call("edit_files", "done", {
          args: { files: [{ path, edits: [edit] }, { path: other, edits: [edit] }] },
          result: { ok: true, files: [{ path, diff: patch }, { path: other, diff: patch.replaceAll(path, other) }] },
        }),
        call("edit_files", "done", { args: { files: [{ path: "/a/same.txt", edits: [edit] }] }, result: { ok: true, files: [{ path: "/a/same.txt", diff: "" }] } }),
        refused("edit_files", { files: [{ path, edits: [edit] }] }, "The text was not found. Nothing was changed."),
        interrupted("edit_files", { files: [{ path, edits: [edit] }] }),
      ]}
    />
  ),
  play: async ({ canvas }) => {
    await expect(canvas.getByText(/Editing a file/)).toBeVisible()
    const asked = canvas.getByRole("button", { name: "Editing src/serve.ts" })
    await openByKeyboard(asked)
    await expect(await canvas.findByRole("group", { name: `Changes to ${path}` }, { timeout: 5000 })).toHaveTextContent("const port = 8080")
    await userEvent.click(asked)
    await openByKeyboard(canvas.getByRole("button", { name: /Edited src\/serve.ts .*2 lines added, .*1 line removed/ }))
    const diff = await canvas.findByRole("group", { name: `Changes to ${path}` })
    await expect(diff).toHaveTextContent('const host = "127.0.0.1"')
    await userEvent.tab()
    await expect(diff).toHaveFocus()
    await openByKeyboard(canvas.getByRole("button", { name: /Edited 2 files .*4 lines added/ }))
    await expect(await canvas.findByRole("button", { name: new RegExp(`^${other}`) })).toBeVisible()
    await openByKeyboard(canvas.getByRole("button", { name: /Edited a\/same.txt|Edited \/a\/same.txt/ }))
    await expect(canvas.getByText("No lines changed.")).toBeVisible()
    await openByKeyboard(canvas.getByRole("button", { name: /Could not edit src\/serve.ts: The text was not found/ }))
    await expect(canvas.getByRole("button", { name: "Editing src/serve.ts Stopped" })).toBeVisible()
  },
}

export const EditingDark: Story = { ...Editing, globals: { theme: "dark" } }

export const Attaching: Story = {
  render: () => (
    <Cards
      of={[
        call("attach_file", "writing", { args: { path: "/home/dev/repo" } }),
        call("attach_file", "running", { args: { path: "/home/dev/report.pdf" } }),
        call("attach_file", "done", {
          args: { path: "/home/dev/report.pdf" },
          result: { ok: true, path: "/home/dev/report.pdf", name: "report.pdf", media_type: "application/pdf", size: 81_200, file_id: "f1" },
        }),
        refused("attach_file", { path: "/home/dev/empty" }, "/home/dev/empty is empty. Nothing was attached."),
        interrupted("attach_file", { path: "/home/dev/report.pdf" }),
      ]}
    />
  ),
  play: async ({ canvas }) => {
    await openByKeyboard(canvas.getByRole("button", { name: "Attached report.pdf 81 kB" }))
    const link = canvas.getByRole("link", { name: "Download report.pdf" })
    await expect(link).toHaveAttribute("href", "/api/experimental/chats/files/f1")
    await userEvent.tab()
    await expect(link).toHaveFocus()
    await expect(canvas.getByRole("button", { name: /Could not attach empty: .*Nothing was attached/ })).toBeVisible()
    await expect(canvas.getByRole("button", { name: "Attaching report.pdf Stopped" })).toBeVisible()
  },
}
