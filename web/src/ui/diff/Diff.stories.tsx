import type { Meta, StoryObj } from "@storybook/react-vite"
import { Columns2, Rows2 } from "lucide-react"
import { useRef, useState } from "react"
import { expect, fireEvent, fn, userEvent, waitFor } from "storybook/test"
import { Segmented } from "../inputs/Segmented"
import { Rows } from "../StoryFrame"
import { DiffStat } from "./DiffStat"
import { DiffView, type DiffViewHandle } from "./DiffView"
import { FileList } from "./FileList"
import { parseDiff } from "./parse"
import type { Layout } from "./rows"

const meta: Meta = { title: "ui/Diff" }
export default meta
type Story = StoryObj

const patch = `diff --git a/src/ports.py b/src/ports.py
--- a/src/ports.py
+++ b/src/ports.py
@@ -1,7 +1,8 @@ async def serve():
 import asyncio
 
-async def serve(port: int = 8080) -> Server:
-    """Listen on a port."""
-    return await listen("127.0.0.1", port)
+async def serve(port: int = 0) -> Server:
+    """Listen on any port, and say which."""
+    server = await listen("127.0.0.1", port)
+    return server
 
 __all__ = ["serve"]
diff --git a/old.md b/docs/new.md
similarity index 90%
rename from old.md
rename to docs/new.md
--- a/old.md
+++ b/docs/new.md
@@ -1 +1 @@
-Ports
+Ports of the server
\\ No newline at end of file
diff --git a/logo.png b/logo.png
new file mode 100644
Binary files /dev/null and b/logo.png differ
[3 more files are left out]
`

const diff = parseDiff(patch)
const commented = fn()

function Shown({ first = "unified" }: { first?: Layout }) {
  const [layout, setLayout] = useState<Layout>(first)
  return (
    <Rows width="wide">
      <Segmented
        label="Layout"
        value={layout}
        onChange={setLayout}
        segments={[
          { value: "unified", label: "One column", icon: Rows2 },
          { value: "split", label: "Side by side", icon: Columns2 },
        ]}
      />
      <DiffView files={diff.files} notes={diff.notes} layout={layout} onComment={commented} />
    </Rows>
  )
}

export const Unified: Story = {
  render: () => <Shown />,
  play: async ({ canvas, canvasElement }) => {
    commented.mockClear()
    await expect(canvas.getByText("3 more files are left out")).toBeVisible()
    await expect(canvas.getByText(/A binary file/)).toBeVisible()
    await expect(canvas.getByText("old.md → docs/new.md")).toBeVisible()
    await expect(canvasElement.querySelectorAll("mark").length).toBeGreaterThan(0)
    await userEvent.click(canvas.getByRole("button", { name: "Comment on line 3" }))
    await userEvent.keyboard("Why not 8080?{Enter}")
    await expect(commented).toHaveBeenCalledWith("src/ports.py", "new", 3, 3, "async def serve(port: int = 0) -> Server:", "Why not 8080?")
    await waitFor(() => expect(canvas.getByRole("button", { name: "Comment on line 3" })).toHaveFocus())
  },
}

export const LinesBesideAComment: Story = {
  render: () => <Shown />,
  play: async ({ canvas }) => {
    const line = canvas.getByRole("button", { name: "Comment on line 3" })
    await userEvent.click(line)
    await expect(canvas.getByRole("textbox", { name: "Comment on line 3" })).toHaveFocus()
    line.focus()
    await userEvent.keyboard("{ArrowDown}")
    await expect(canvas.getByRole("button", { name: "Comment on line 4" })).toHaveFocus()
  },
}

export const UnifiedDark: Story = { ...Unified, globals: { theme: "dark" } }

export const Split: Story = {
  render: () => <Shown first="split" />,
  play: async ({ canvas }) => {
    commented.mockClear()
    const start = canvas.getByRole("button", { name: "Comment on old line 3" })
    start.focus()
    await userEvent.keyboard("{Shift>}{ArrowDown}{ArrowDown}{/Shift}{Enter}")
    const box = await canvas.findByRole("textbox", { name: "Comment on old lines 3 to 5" })
    await expect(box).toHaveFocus()
    await userEvent.keyboard("Keep this{Shift>}{Enter}{/Shift}please{Enter}")
    await expect(commented).toHaveBeenCalledWith("src/ports.py", "old", 3, 5, expect.stringContaining("Listen on a port"), "Keep this\nplease")
  },
}

export const SplitDark: Story = { ...Split, globals: { theme: "dark" } }

export const Dragging: Story = {
  render: () => <Shown />,
  play: async ({ canvas }) => {
    commented.mockClear()
    const first = canvas.getByRole("button", { name: "Comment on line 3" })
    const last = canvas.getByRole("button", { name: "Comment on line 5" })
    await fireEvent.pointerDown(first, { button: 0, pointerType: "mouse" })
    await fireEvent.pointerOver(last, { pointerType: "mouse" })
    await fireEvent.pointerEnter(last, { pointerType: "mouse" })
    await fireEvent.pointerUp(last, { pointerType: "mouse" })
    await canvas.findByRole("textbox", { name: "Comment on lines 3 to 5" })
    await userEvent.keyboard("{Escape}")
    await expect(canvas.queryByRole("textbox")).toBeNull()
  },
}

const long = parseDiff(
  Array.from({ length: 20 }, (_, file) => {
    const lines = Array.from({ length: 300 }, (_line, place) => `+const value${place} = ${place}`).join("\n")
    return `diff --git a/src/file${file}.ts b/src/file${file}.ts\nnew file mode 100644\n--- /dev/null\n+++ b/src/file${file}.ts\n@@ -0,0 +1,300 @@\n${lines}\n`
  }).join(""),
)

function LongDiff() {
  const view = useRef<DiffViewHandle>(null)
  const [selected, setSelected] = useState<string | null>(null)
  return (
    <main style={{ display: "grid", gridTemplateColumns: "260px 1fr", height: 480 }}>
      <FileList
        files={long.files}
        selected={selected}
        onSelect={(path) => {
          setSelected(path)
          view.current?.show(path)
        }}
      />
      <DiffView ref={view} files={long.files} height="filling" onComment={commented} onFileShown={setSelected} />
    </main>
  )
}

export const Long: Story = {
  render: () => <LongDiff />,
  play: async ({ canvas, canvasElement }) => {
    await waitFor(() => expect(canvas.getByText("src/file0.ts", { selector: "[class*=path]" })).toBeVisible())
    await expect(canvasElement.querySelectorAll("[data-row]").length).toBeLessThan(200)
    await userEvent.click(canvas.getByRole("button", { name: /file12\.ts/ }))
    await waitFor(() => expect(canvas.getByRole("button", { name: /src\/file12\.ts Added/, expanded: true })).toBeVisible())
    canvas.getByRole("group").scrollTop = 0
    await waitFor(() => expect(canvas.getByRole("button", { name: /^Added .*file0\.ts/ })).toHaveAttribute("aria-current", "true"))
  },
}

export const Small: Story = {
  render: () => (
    <Rows width="wide">
      <DiffStat additions={12} deletions={3} />
      <FileList files={diff.files} selected="docs/new.md" onSelect={fn()} />
      <DiffView files={diff.files.slice(0, 1)} hasFileNames={false} />
      <DiffView files={[]} label="Nothing" />
    </Rows>
  ),
  play: async ({ canvas }) => {
    await expect(canvas.getByText("No changes")).toBeVisible()
    await expect(canvas.queryByRole("button", { name: /Comment/ })).toBeNull()
  },
}

export const SmallDark: Story = { ...Small, globals: { theme: "dark" } }
