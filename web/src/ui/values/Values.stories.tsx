import type { Meta, StoryObj } from "@storybook/react-vite"
import { expect } from "storybook/test"
import { StatusGlyph } from "../status/StatusGlyph"
import { Row, Rows } from "../StoryFrame"
import { Bytes, Duration, Money } from "./figures"
import { Kbd } from "./Kbd"
import { RelativeTime } from "./RelativeTime"

const meta: Meta = { title: "ui/Values" }
export default meta
type Story = StoryObj

export const Figures: Story = {
  render: () => (
    <Rows>
      <Row>
        <RelativeTime at={Date.now() - 5 * 60_000} />
        <RelativeTime at="2025-03-01T10:00:00Z" />
        <Duration milliseconds={41_200} />
        <Money micros={12_300} />
        <Money micros={3} />
        <Bytes bytes={1_530_000} />
        <Kbd keys="Mod+Shift+K" />
      </Row>
      <Row>
        <StatusGlyph status="running" isWordShown />
        <StatusGlyph status="waiting" isWordShown />
        <StatusGlyph status="idle" isWordShown />
        <StatusGlyph status="error" isWordShown />
        <StatusGlyph status="queued" isWordShown />
      </Row>
      <Row>
        <StatusGlyph status="running" />
        <StatusGlyph status="waiting" word="Reconnecting" />
      </Row>
    </Rows>
  ),
  play: async ({ canvas }) => {
    await expect(canvas.getByText("5 min ago").tagName).toBe("TIME")
    await expect(canvas.getByText("$0.0123")).toBeVisible()
    await expect(canvas.getByText("Needs you")).toBeVisible()
    await expect(canvas.getByText("Reconnecting")).toBeInTheDocument()
  },
}

export const FiguresDark: Story = { ...Figures, globals: { theme: "dark" } }
