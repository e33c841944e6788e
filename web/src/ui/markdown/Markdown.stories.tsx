import type { Meta, StoryObj } from "@storybook/react-vite"
import { useEffect, useState } from "react"
import { expect, waitFor } from "storybook/test"
import { Rows } from "../StoryFrame"
import { Markdown } from "./Markdown"

const meta: Meta = { title: "ui/Markdown" }
export default meta
type Story = StoryObj

const everything = `# A heading

The test was flaky because **two workers** shared a port. I changed \`serve()\` so that each asks for its own, see [the documentation](https://example.org/ports) and ~~the old note~~.

## What changed

1. \`serve()\` binds to port 0
2. the test reads the port back
   - from the log
   - or from the socket

- [x] Run the tests
- [ ] Tell the others

> A port that is asked for is not a port that one gets.

\`\`\`python
async def serve(port: int = 0) -> Server:
    """Listen, and say where."""
    server = await listen("127.0.0.1", port)  # 0: any
    return server
\`\`\`

| Run | Before | After |
|:----|-------:|------:|
| 1   | 41.2 s | 12.0 s |
| 2   | failed | 12.3 s |

The chance that two collide is $1 - e^{-n^2/2N}$, in full:

$$
P = 1 - \\prod_{i=1}^{n-1} \\left(1 - \\frac{i}{N}\\right)
$$

It costs $5, or $6 with tax. <b>HTML</b> is text &amp; stays text. ![A picture](https://example.org/a.png)

[A bad link](javascript:alert(1)) leads nowhere.`

export const Everything: Story = {
  render: () => (
    <Rows width="wide">
      <h1 className="unseen">Chat</h1>
      <h2 className="unseen">Timeline</h2>
      <Markdown text={everything} />
    </Rows>
  ),
  play: async ({ canvas, canvasElement }) => {
    await expect(canvas.getByRole("heading", { name: "A heading", level: 3 })).toBeVisible()
    await expect(canvas.getByRole("heading", { name: "What changed", level: 4 })).toBeVisible()
    await expect(canvas.getByRole("link", { name: "the documentation" })).toHaveAttribute("rel", "noopener noreferrer")
    await expect(canvas.queryByRole("link", { name: "A bad link" })).toBeNull()
    await expect(canvas.getByRole("link", { name: "Image: A picture" })).toBeVisible()
    await waitFor(() => expect(canvasElement.querySelectorAll("math")).toHaveLength(2))
    await waitFor(() => expect(canvasElement.querySelector("pre span[class*=keyword]")).not.toBeNull())
    await expect(canvas.getByText(/It costs/)).toHaveTextContent("<b>HTML</b> is text & stays text.")
  },
}

export const EverythingDark: Story = { ...Everything, globals: { theme: "dark" } }

function Coming() {
  const [end, setEnd] = useState(0)
  useEffect(() => {
    const timer = setInterval(() => setEnd((known) => Math.min(everything.length, known + 37)), 10)
    return () => clearInterval(timer)
  }, [])
  return (
    <Rows width="wide">
      <h1 className="unseen">Chat</h1>
      <h2 className="unseen">Timeline</h2>
      <Markdown text={everything.slice(0, end)} isStreaming={end < everything.length} />
    </Rows>
  )
}

export const Streaming: Story = {
  render: () => <Coming />,
  play: async ({ canvas, canvasElement }) => {
    const first = await canvas.findByRole("heading", { name: "A heading" })
    await waitFor(() => expect(canvas.getByText(/leads nowhere/)).toBeVisible(), { timeout: 5000 })
    // The block that was finished first is the same element still.
    await expect(canvas.getByRole("heading", { name: "A heading" })).toBe(first)
    await waitFor(() => expect(canvasElement.querySelectorAll("math")).toHaveLength(2))
  },
}
