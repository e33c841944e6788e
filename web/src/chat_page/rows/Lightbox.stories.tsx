import type { Meta, StoryObj } from "@storybook/react-vite"
import { QueryClient, QueryClientProvider } from "@tanstack/react-query"
import { expect, fn, screen, spyOn } from "storybook/test"
import { TextLightbox } from "./Lightbox"

const meta: Meta = { title: "chat/Lightbox" }
export default meta
type Story = StoryObj

const answering = (text: string, status = 200) => () => {
  spyOn(window, "fetch").mockImplementation(async () => new Response(text, { status }))
}

function shown(name: string) {
  return (
    <QueryClientProvider client={new QueryClient({ defaultOptions: { queries: { retry: false } } })}>
      <TextLightbox source={`/api/experimental/chats/files/${name}`} name={name} onClose={fn()} />
    </QueryClientProvider>
  )
}

export const Text: Story = {
  beforeEach: answering("one\ntwo"),
  render: () => shown("short.txt"),
  play: async () => {
    await expect(await screen.findByText("two")).toBeVisible()
    await expect(screen.queryByRole("note")).toBeNull()
    await expect(screen.getByRole("link", { name: "Download" })).toHaveAttribute("download", "short.txt")
  },
}

/** Its beginning: a browser would stand still over all of it. A sign that is cut through is left out. */
export const LongText: Story = {
  beforeEach: answering(`a${"é".repeat(150_000)}\nthe end`),
  render: () => shown("long.txt"),
  play: async () => {
    await expect(await screen.findByRole("note")).toHaveTextContent(/^The first 2.* of 3.*\. Download it to read the rest\.$/)
    const drawn = screen.getByRole("group").textContent ?? ""
    await expect(drawn).toMatch(/^aé+$/)
    await expect(drawn).toHaveLength(100_000)
  },
}

export const Unreadable: Story = {
  beforeEach: answering("", 500),
  render: () => shown("broken.txt"),
  play: async () => {
    await expect(await screen.findByRole("alert")).toHaveTextContent("It could not be loaded.")
  },
}
