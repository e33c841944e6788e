import type { Meta, StoryObj } from "@storybook/react-vite"
import { expect, userEvent } from "storybook/test"
import { call, chatOf, interrupted, refused } from "./testing/calls"
import { Cards } from "./testing/Cards"
import { openByKeyboard } from "./testing/opening"

const meta: Meta = { title: "cards/Others" }
export default meta
type Story = StoryObj

const ofProvider = { isOfProvider: true }

export const Searches: Story = {
  render: () => (
    <Cards
      of={[
        call("web_search", "writing", { ...ofProvider, args: { query: "oklch con" } }),
        call("web_search", "running", { ...ofProvider, args: { query: "oklch contrast" } }),
        call("web_search", "done", {
          ...ofProvider,
          args: { query: "oklch contrast" },
          result: [
            { url: "https://example.org/a", title: "Contrast in OKLCH" },
            { url: "https://example.org/b", title: "" },
          ],
        }),
        call("web_search", "done", { ...ofProvider, args: { action: { type: "search", query: "ports" } }, result: { status: "completed" } }),
        call("url_context", "done", { ...ofProvider, args: { urls: ["https://example.org/c"] }, result: { pages: [{ url: "https://example.org/c", status: "OK" }] } }),
        call("web_search", "failed", { ...ofProvider, args: { query: "x" }, result: { error: "max_uses_exceeded" }, error: "max_uses_exceeded" }),
        call("web_search", "interrupted", { ...ofProvider, args: { query: "x" } }),
      ]}
    />
  ),
  play: async ({ canvas }) => {
    await expect(canvas.getByText(/Searching the web for “oklch con”/)).toBeVisible()
    await openByKeyboard(canvas.getByRole("button", { name: "Searched the web for “oklch contrast” 2 results" }))
    await userEvent.tab()
    await expect(canvas.getByRole("link", { name: "Contrast in OKLCH" })).toHaveFocus()
    await expect(canvas.getByRole("link", { name: "https://example.org/b" })).toHaveAttribute("rel", "noreferrer noopener")
    await expect(canvas.getByText(/Searched the web for “ports”/)).toBeVisible()
    await expect(canvas.getByRole("button", { name: /Read pages for “https:\/\/example.org\/c” 1 result/ })).toBeVisible()
    await expect(canvas.getByRole("button", { name: /Could not search the web for “x”: max_uses_exceeded/ })).toBeVisible()
    await expect(canvas.getByText("Stopped")).toBeVisible()
  },
}

export const SearchesDark: Story = { ...Searches, globals: { theme: "dark" } }

const code = "print(sum(range(10)))"

export const CodeOfProviders: Story = {
  render: () => (
    <Cards
      of={[
        call("code_interpreter", "writing", { ...ofProvider, args: { code: "print(su" } }),
        call("code_interpreter", "running", { ...ofProvider, args: { code } }),
        call("code_execution", "done", { ...ofProvider, args: { code }, result: { stdout: "45\n", stderr: "", return_code: 0 } }),
        call("code_interpreter", "done", { ...ofProvider, args: { code }, result: { outputs: [{ type: "logs", logs: "45 logged" }] } }),
        call("code_execution", "failed", { ...ofProvider, args: { code }, result: { error: "unavailable" }, error: "unavailable" }),
        call("code_execution", "interrupted", { ...ofProvider, args: { code } }),
      ]}
    />
  ),
  play: async ({ canvas }) => {
    const [first, second] = canvas.getAllByRole("button", { name: "Ran code" })
    if (!first || !second) throw new Error("no cards")
    await openByKeyboard(first)
    await expect(canvas.getByRole("group", { name: "Output of Code" })).toHaveTextContent("45")
    await openByKeyboard(second)
    await expect(canvas.getByText("45 logged")).toBeVisible()
    await expect(canvas.getByRole("button", { name: "Could not run code: unavailable" })).toBeVisible()
  },
}

const issue = { title: "Ports collide", body: "Steps:\n1. start twice\n2. look", labels: ["bug", "ports"], draft: false, milestone: null, meta: { votes: 3, by: { name: "Ada" } } }

export const ToolsOfServers: Story = {
  render: () => (
    <Cards
      of={[
        call("github__create_issue", "writing", { args: { title: "Ports col" } }),
        call("github__create_issue", "running", { args: issue, mcpServerId: "m1", output: "creating" }),
        call("github__create_issue", "done", { args: issue, mcpServerId: "m1", result: { number: 41, url: "https://example.org/41" } }),
        call("listOpenPRs", "done", { args: { model_intent: "Looking for open changes", state: "open" }, mcpServerId: "m1", result: { output: "none\nat all" } }),
        call("read_file", "done", { args: { uri: "notes://1" }, mcpServerId: "m1", result: "plain words" }),
        { ...refused("github__create_issue", issue, "404: no such repository"), mcpServerId: "m1" },
        { ...interrupted("github__create_issue", issue), mcpServerId: "m1" },
      ]}
    />
  ),
  play: async ({ canvas }) => {
    await openByKeyboard(canvas.getByRole("button", { name: "Called Create issue on github" }))
    const input = canvas.getByRole("group", { name: "Input" })
    await expect(input).toHaveTextContent("titlePorts collide")
    await expect(input).toHaveTextContent("draftno")
    await expect(input).toHaveTextContent("nameAda")
    await expect(input.querySelector("pre")).toHaveTextContent("1. start twice 2. look")
    await userEvent.tab()
    await expect(input).toHaveFocus()
    await userEvent.tab()
    await expect(canvas.getByRole("group", { name: "Result" })).toHaveFocus()
    await expect(canvas.getByRole("group", { name: "Result" })).toHaveTextContent("number41")
    await expect(canvas.getByRole("button", { name: "Looking for open changes" })).toBeVisible()
    await expect(canvas.getByRole("button", { name: "Called Read file" })).toBeVisible()
    await expect(canvas.getByRole("button", { name: /Could not call Create issue on github: 404: no such repository/ })).toBeVisible()
    await expect(canvas.getByRole("button", { name: /Calling Create issue on github Stopped/ })).toBeVisible()
  },
}

export const ToolsOfServersDark: Story = { ...ToolsOfServers, globals: { theme: "dark" } }

const waiting = call("open_in_editor", "running", { args: { path: "/home/dev/a.ts" } })

export const ToolsOfClients: Story = {
  render: () => (
    <Cards
      of={[waiting, call("open_in_editor", "done", { args: { path: "/a" }, result: { ok: true } })]}
      opened={chatOf({ status: "requires_action", action: [{ tool_call_id: waiting.callId, tool_name: "open_in_editor" }] })}
    />
  ),
  play: async ({ canvas }) => {
    await openByKeyboard(canvas.getByRole("button", { name: /Open in editor · Needs you/ }))
    await expect(canvas.getByText(/Waits for the client that brought this tool/)).toBeVisible()
    await expect(canvas.getByRole("button", { name: "Called Open in editor" })).toBeVisible()
  },
}

export const Unknown: Story = {
  render: () => (
    <Cards
      of={[
        call("", "running"),
        call("x", "done"),
        call("frobnicate", "done", { args: "not an object", result: { rows: Array.from({ length: 250 }, (_, place) => place), empty: "", none: {} }, isRewritten: true }),
      ]}
    />
  ),
  play: async ({ canvas }) => {
    await expect(canvas.getByText(/Calling a tool/)).toBeVisible()
    await openByKeyboard(canvas.getByRole("button", { name: "Called Frobnicate" }))
    await expect(canvas.getByText("not an object")).toBeVisible()
    await expect(canvas.getByText("and 50 more")).toBeVisible()
    await expect(canvas.getByText(/A rule of this server has changed/)).toBeVisible()
  },
}

/** Whose command can't be read, though all the rest can. */
const unreadable = Object.defineProperty({ workdir: "/home" }, "command", {
  get: () => {
    throw new Error("unreadable")
  },
})

/** What no card can draw is still told, by the plain one. */
export const Broken: Story = {
  render: () => <Cards of={[call("execute", "done", { args: unreadable, result: { success: true, exit_code: 0 } })]} />,
  play: async ({ canvas }) => {
    await openByKeyboard(canvas.getByRole("button", { name: "Called Execute" }))
    await expect(canvas.getByText(/could not be shown as usual/)).toBeVisible()
    await expect(canvas.getByText("/home")).toBeVisible()
  },
}

const dot = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="

export const Media: Story = {
  render: () => (
    <Cards
      of={[
        call("browser__take_screenshot", "running", { args: {}, mcpServerId: "m1" }),
        call("browser__take_screenshot", "done", { isMedia: true, mcpServerId: "m1", result: { data: dot, mime_type: "image/png", text: "The page, whole." } }),
        call("record", "done", { isMedia: true, result: { data: "", mime_type: "video/mp4", text: "", attachment_file_id: "f2", attachment_name: "run.mp4" } }),
        refused("browser__take_screenshot", {}, "No display."),
        interrupted("browser__take_screenshot", {}),
      ]}
    />
  ),
  play: async ({ canvas }) => {
    await openByKeyboard(canvas.getByRole("button", { name: "Called Take screenshot image/png" }))
    const image = canvas.getByRole("img", { name: "Image from Take screenshot" })
    await expect(image).toBeVisible()
    await expect(image.parentElement?.offsetHeight).toBe(180)
    await expect(canvas.getByText("The page, whole.")).toBeVisible()
    await openByKeyboard(canvas.getByRole("button", { name: "Called Record video/mp4" }))
    await expect(canvas.getByRole("link", { name: "Download run.mp4" })).toHaveAttribute("href", "/api/experimental/chats/files/f2")
  },
}
