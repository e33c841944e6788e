import type { Meta, StoryObj } from "@storybook/react-vite"
import { useEffect, useState } from "react"
import { expect, userEvent, waitFor } from "storybook/test"
import { Rows } from "../StoryFrame"
import { Ansi } from "./Ansi"
import { CodeBlock } from "./CodeBlock"
import { OutputBox } from "./OutputBox"

const meta: Meta = { title: "ui/Code" }
export default meta
type Story = StoryObj

const code = `import { listen } from "./net"

// The port is asked for, and told.
export async function serve(port = 0): Promise<Server> {
  const server = await listen({ host: "127.0.0.1", port })
  return server // a line that is longer than the page is wide, so that it has to scroll or to be wrapped by the one who reads it
}`

export const Blocks: Story = {
  render: () => (
    <Rows width="wide">
      <CodeBlock code={code} fileName="src/serve.ts" firstLine={12} />
      <CodeBlock code={"no language, no colours\n  and spaces kept"} />
      <CodeBlock code={"SELECT name, count(*) FROM chats WHERE id = 'x' -- all"} language="sql" />
      <CodeBlock code={"@@ what nobody knows"} language="brainfold" />
    </Rows>
  ),
  play: async ({ canvas, canvasElement }) => {
    const box = canvas.getByRole("group", { name: "Code: src/serve.ts" })
    const height = box.offsetHeight
    await waitFor(() => expect(canvasElement.querySelector("pre span[class*=keyword]")).not.toBeNull())
    await expect(box.offsetHeight).toBe(height)
    await expect(box).toHaveTextContent("export async function serve(port = 0)")
    const wrap = canvas.getAllByRole("button", { name: "Wrap lines" })[0]
    if (!wrap) throw new Error("no button")
    await userEvent.click(wrap)
    await expect(wrap).toHaveAttribute("aria-pressed", "true")
    await expect(box.scrollWidth).toBeLessThanOrEqual(box.clientWidth)
  },
}

export const BlocksDark: Story = { ...Blocks, globals: { theme: "dark" } }

const manyLines = Array.from({ length: 1200 }, (_, place) => `line(${place + 1})`).join("\n")

export const Long: Story = {
  render: () => (
    <Rows width="wide">
      <CodeBlock code={manyLines} language="python" isBounded />
    </Rows>
  ),
  play: async ({ canvas }) => {
    const box = canvas.getByRole("group")
    await expect(box).toHaveTextContent("line(400)")
    await expect(box).not.toHaveTextContent("line(401)")
    await userEvent.click(canvas.getByRole("button", { name: "Show all 1,200 lines" }))
    await expect(box).toHaveTextContent("line(1200)")
  },
}

const coloured =
  "\u001b[1m$ pytest -q\u001b[0m\n\u001b[32m....\u001b[31mF\u001b[0m \u001b[33mwarning\u001b[0m\n" +
  "progress 10 %\rprogress 100 %\n\u001b[41m FAIL \u001b[0m \u001b[38;5;39mtest_port\u001b[0m \u001b[38;2;200;80;200mrgb\u001b[0m\n" +
  "\u001b]8;;https://example.org\u0007hidden link\u001b]8;;\u0007 \u001b[2Kcleared \u001b[2mdim\u001b[22m \u001b[4munderlined\u001b[0m \u001b[7minverse\u001b[0m"

export const TerminalColours: Story = {
  render: () => (
    <Rows width="wide">
      <OutputBox text={coloured} label="Output of pytest" />
      <pre>
        <Ansi text={"\u001b[36mcyan\u001b[0m alone"} />
      </pre>
    </Rows>
  ),
  play: async ({ canvas }) => {
    const box = canvas.getByRole("group", { name: "Output of pytest" })
    await expect(box).toHaveTextContent("progress 100 %")
    await expect(box).not.toHaveTextContent("progress 10 %")
    await expect(box).toHaveTextContent("hidden link cleared dim underlined inverse")
    await userEvent.tab()
    await expect(box).toHaveFocus()
  },
}

export const TerminalColoursDark: Story = { ...TerminalColours, globals: { theme: "dark" } }

function Running() {
  const [count, setCount] = useState(1)
  useEffect(() => {
    const timer = setInterval(() => setCount((known) => Math.min(80, known + 4)), 20)
    return () => clearInterval(timer)
  }, [])
  const text = Array.from({ length: count }, (_, place) => `test ${place + 1} passed`).join("\n")
  return (
    <Rows width="wide">
      <OutputBox text={text} label="Output" isRunning={count < 80} />
    </Rows>
  )
}

export const SticksToItsEnd: Story = {
  render: () => <Running />,
  play: async ({ canvas }) => {
    const box = canvas.getByRole("group", { name: "Output" })
    await waitFor(() => expect(box).toHaveTextContent("test 80 passed"), { timeout: 5000 })
    await waitFor(() => expect(box.scrollTop + box.clientHeight).toBeGreaterThan(box.scrollHeight - 4))
  },
}

export const Cut: Story = {
  render: () => (
    <Rows width="wide">
      <OutputBox text={"x".repeat(500) + "\nthe end"} label="Output" limit={100} />
      <OutputBox text="" label="Output of true" />
    </Rows>
  ),
  play: async ({ canvas }) => {
    await expect(canvas.getByText(/characters before this are not shown/)).toBeVisible()
    await expect(canvas.getByRole("group", { name: "Output" })).toHaveTextContent("the end")
    await expect(canvas.getByText("No output")).toBeVisible()
  },
}
