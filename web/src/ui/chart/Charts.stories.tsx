import type { Meta, StoryObj } from "@storybook/react-vite"
import { expect, fn, userEvent } from "storybook/test"
import { Rows } from "../StoryFrame"
import { moneyText } from "../values/spans"
import { BarList } from "./BarList"
import { Sparkline } from "./Sparkline"
import { StackedBars } from "./StackedBars"

const meta: Meta = { title: "ui/Charts" }
export default meta
type Story = StoryObj

const series = ["Large", "Small", "Quick", "Old", "Local", "Other"].map((label) => ({ key: label.toLowerCase(), label }))

const places = Array.from({ length: 30 }, (_, day) => ({
  key: `${day}`,
  label: `Nov ${day + 1}`,
  values: Object.fromEntries(series.map((one, at) => [one.key, Math.round(((day * 7 + at * 13) % 23) * 91_000 * (at === 0 ? 2 : 1))])),
}))

export const ByDay: Story = {
  render: () => (
    <Rows width="wide">
      <StackedBars label="Cost by day" series={series} places={places} format={moneyText} />
      <StackedBars label="Nothing yet" series={[]} places={[]} format={moneyText} />
    </Rows>
  ),
  play: async ({ canvas }) => {
    await userEvent.tab()
    await expect(canvas.getByRole("img", { name: /^Nov 1:/ })).toHaveFocus()
    await userEvent.keyboard("{ArrowRight}")
    await expect(canvas.getByRole("img", { name: /^Nov 2:/ })).toHaveFocus()
    await userEvent.keyboard("{End}")
    await expect(canvas.getByRole("img", { name: /^Nov 30:/ })).toHaveFocus()
    await expect(canvas.getByRole("table", { name: "Cost by day, as a table" })).toBeInTheDocument()
    await expect(canvas.getByText("No figures for this time")).toBeVisible()
  },
}

export const ByDayDark: Story = { ...ByDay, globals: { theme: "dark" } }

const chosen = fn()

export const Shares: Story = {
  render: () => (
    <Rows width="narrow">
      <BarList
        label="Cost by model"
        format={moneyText}
        onSelect={chosen}
        bars={[
          { key: "large", label: "large-2", value: 41_200_000 },
          { key: "small", label: "small-1 with a name that is long", value: 9_100_000 },
          { key: "free", label: "demo", value: 0 },
        ]}
      />
      <Sparkline label="Cost of the last week: from $0.10 to $1.20" values={[1, 3, 2, 5, 4, 8, 12]} />
    </Rows>
  ),
  play: async ({ canvas }) => {
    chosen.mockClear()
    await userEvent.click(canvas.getByRole("button", { name: "large-2" }))
    await expect(chosen).toHaveBeenCalledWith("large")
    await expect(canvas.getByRole("img", { name: /Cost of the last week/ })).toBeVisible()
  },
}

export const SharesDark: Story = { ...Shares, globals: { theme: "dark" } }
