import type { Meta, StoryObj } from "@storybook/react-vite"
import { GitPullRequest, MessageSquare } from "lucide-react"
import { expect, fn, userEvent } from "storybook/test"
import { Button } from "../buttons/Button"
import { Row, Rows } from "../StoryFrame"
import { Badge } from "./Badge"
import { Banner } from "./Banner"
import { EmptyState, ErrorState } from "./EmptyState"
import { Meter } from "./Meter"
import { Skeleton, SkeletonLines } from "./Skeleton"
import { Spinner } from "./Spinner"

const meta: Meta = { title: "ui/Status" }
export default meta
type Story = StoryObj

const dismissed = fn()

export const Banners: Story = {
  render: () => (
    <Rows width="wide">
      <Banner title="A new version is there" text="It is loaded when you reload." actions={<Button size="small">Reload</Button>} onDismiss={dismissed} />
      <Banner kind="warn" title="Anthropic is overloaded" text="Trying again in 8 s (3 of 25)." isAnnounced={false} />
      <Banner
        kind="error"
        title="The key was refused"
        text="What was written is kept. Set another key, then send again."
        actions={<Button size="small">Open settings</Button>}
      />
    </Rows>
  ),
  play: async ({ canvas }) => {
    dismissed.mockClear()
    await expect(canvas.getByRole("alert")).toHaveTextContent("The key was refused")
    await expect(canvas.getByRole("status")).toHaveTextContent("A new version is there")
    await userEvent.click(canvas.getByRole("button", { name: "Dismiss" }))
    await expect(dismissed).toHaveBeenCalledOnce()
  },
}

export const BannersDark: Story = { ...Banners, globals: { theme: "dark" } }

export const Small: Story = {
  render: () => (
    <Rows width="narrow">
      <Row>
        <Badge>Draft</Badge>
        <Badge kind="accent">New</Badge>
        <Badge kind="ok" icon={GitPullRequest}>
          Merged
        </Badge>
        <Badge kind="warn">Stale</Badge>
        <Badge kind="error">exit 1</Badge>
      </Row>
      <Meter label="Context" value={82_000} max={200_000} text="82,000 of 200,000 tokens" />
      <Meter label="Budget" value={85} max={100} />
      <Meter label="Disk" value={990} max={1000} />
      <Spinner text="Starting the workspace" />
      <SkeletonLines />
      <Skeleton width="120px" height="32px" />
    </Rows>
  ),
  play: async ({ canvas }) => {
    await expect(canvas.getByRole("meter", { name: "Context" })).toHaveAttribute("aria-valuetext", "82,000 of 200,000 tokens")
    await expect(await canvas.findByText("Starting the workspace")).toBeVisible()
  },
}

export const SmallDark: Story = { ...Small, globals: { theme: "dark" } }

const again = fn()

export const EmptyAndFailed: Story = {
  render: () => (
    <Rows width="wide">
      <EmptyState
        icon={MessageSquare}
        title="No chats yet"
        text="A chat is a conversation with an agent that can work in a workspace."
        action={<Button kind="primary">Begin a chat</Button>}
      />
      <ErrorState
        title="The chat could not be read"
        text="Nothing is lost: it is on the server."
        onRetry={again}
        details="GET /api/experimental/chats/1 answered 500"
      />
    </Rows>
  ),
  play: async ({ canvas }) => {
    again.mockClear()
    await userEvent.click(canvas.getByRole("button", { name: "Try again" }))
    await expect(again).toHaveBeenCalledOnce()
    await userEvent.click(canvas.getByRole("button", { name: "Details" }))
    await expect(canvas.getByText(/answered 500/)).toBeVisible()
  },
}

export const EmptyAndFailedDark: Story = { ...EmptyAndFailed, globals: { theme: "dark" } }
