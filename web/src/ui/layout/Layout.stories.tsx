import type { Meta, StoryObj } from "@storybook/react-vite"
import { FileDiff, Files, Plus, SquareTerminal } from "lucide-react"
import { useState } from "react"
import { expect, userEvent, waitFor } from "storybook/test"
import { Button } from "../buttons/Button"
import { IconButton } from "../buttons/IconButton"
import { Badge } from "../status/Badge"
import { Rows } from "../StoryFrame"
import { Money } from "../values/figures"
import { Disclosure } from "./Disclosure"
import { PageTitle, Section, ToolbarRow } from "./Page"
import { Resizer } from "./Resizer"
import { type Column, Table } from "./Table"
import { Tabs } from "./Tabs"
import { Tree } from "./Tree"
import type { TreeItem } from "./tree_rows"

const meta: Meta = { title: "ui/Layout" }
export default meta
type Story = StoryObj

function ThreeTabs() {
  const [tab, setTab] = useState("diff")
  return (
    <Rows width="wide">
      <Tabs
        label="Panel"
        value={tab}
        onChange={setTab}
        end={<IconButton name="Add a terminal" icon={Plus} />}
        tabs={[
          { value: "diff", label: "Diff", icon: FileDiff, end: <Badge>3</Badge>, panel: <p>What has changed.</p> },
          { value: "files", label: "Files", icon: Files, panel: <p>What is there.</p> },
          { value: "terminal", label: "Terminal", icon: SquareTerminal, panel: <p>A shell.</p>, isKept: true },
        ]}
      />
    </Rows>
  )
}

export const TabsWithPanels: Story = {
  render: () => <ThreeTabs />,
  play: async ({ canvas }) => {
    canvas.getByRole("tab", { name: /Diff/ }).focus()
    await userEvent.keyboard("{ArrowRight}{Enter}")
    await expect(canvas.getByRole("tab", { name: "Files" })).toHaveAttribute("aria-selected", "true")
    await waitFor(() => expect(canvas.getByText("What is there.")).toBeVisible())
    await waitFor(() => expect(canvas.queryByText("What has changed.")).toBeNull())
  },
}

export const TabsDark: Story = { ...TabsWithPanels, globals: { theme: "dark" } }

interface Model {
  name: string
  provider: string
  micros: number
}

const columns: Column<Model>[] = [
  { key: "name", header: "Model", cell: (model) => model.name, isMain: true },
  { key: "provider", header: "Provider", cell: (model) => model.provider },
  { key: "cost", header: "Cost", cell: (model) => <Money micros={model.micros} />, align: "end" },
  { key: "actions", header: "Actions", isHeaderHidden: true, align: "end", cell: () => <Button size="small">Edit</Button> },
]

const models = [
  { name: "small-1", provider: "Demo", micros: 12_300 },
  { name: "large-2", provider: "Demo", micros: 41_200_000 },
]

export const Tables: Story = {
  render: () => (
    <Rows width="wide">
      <Table caption="Models in use" columns={columns} rows={models} rowKey={(model) => model.name} />
      <Table caption="Models that are hidden" isCaptionHidden columns={columns} rows={[]} rowKey={(model) => model.name} empty="No model is hidden." />
    </Rows>
  ),
  play: async ({ canvas }) => {
    await expect(canvas.getByRole("table", { name: "Models in use" })).toBeVisible()
    await expect(canvas.getByRole("rowheader", { name: "small-1" })).toBeVisible()
    await expect(canvas.getByText("No model is hidden.")).toBeVisible()
  },
}

export const TablesDark: Story = { ...Tables, globals: { theme: "dark" } }

export const TablesOnAPhone: Story = { ...Tables, globals: { viewport: { value: "mobile1" } } }

export const Folded: Story = {
  render: () => (
    <Rows width="wide">
      <Disclosure summary="Ran pytest -q" icon={SquareTerminal} end="3.2 s">
        <p>12 passed</p>
      </Disclosure>
      <Disclosure summary="Thought for 12 s" tone="muted" isOpenAtFirst>
        <p>First the test, then the code.</p>
      </Disclosure>
      <Disclosure summary="Failed to write notes.md" icon={Files} tone="error" />
    </Rows>
  ),
  play: async ({ canvas }) => {
    const line = canvas.getByRole("button", { name: /Ran pytest/ })
    await expect(line).toHaveAttribute("aria-expanded", "false")
    line.focus()
    await userEvent.keyboard("{Enter}")
    await expect(canvas.getByText("12 passed")).toBeVisible()
    await expect(canvas.queryByRole("button", { name: /Failed/ })).toBeNull()
  },
}

export const FoldedDark: Story = { ...Folded, globals: { theme: "dark" } }

function TwoPlaces() {
  const [width, setWidth] = useState(200)
  return (
    <main style={{ display: "flex", height: 120 }}>
      <div style={{ width }}>Sidebar</div>
      <Resizer of="the sidebar" side="left" width={width} min={160} max={320} usual={200} onChange={setWidth} />
      <div>Chat</div>
    </main>
  )
}

export const Resizing: Story = {
  render: () => <TwoPlaces />,
  play: async ({ canvas }) => {
    const line = canvas.getByRole("separator", { name: "Resize the sidebar" })
    line.focus()
    await userEvent.keyboard("{ArrowRight}")
    await expect(line).toHaveAttribute("aria-valuenow", "216")
    await userEvent.keyboard("{End}{ArrowRight}")
    await expect(line).toHaveAttribute("aria-valuenow", "320")
    await userEvent.dblClick(line)
    await expect(line).toHaveAttribute("aria-valuenow", "200")
  },
}

const files: TreeItem[] = [
  { id: "src", name: "src", isFolder: true, items: [{ id: "src/app.py", name: "app.py", end: "4 kB" }, { id: "src/ports.py", name: "ports.py" }] },
  { id: "tests", name: "tests", isFolder: true },
  { id: "README.md", name: "README.md" },
]

function FileTree() {
  const [open, setOpen] = useState<ReadonlySet<string>>(new Set(["tests"]))
  const [selected, setSelected] = useState<string | null>("README.md")
  return (
    <Rows width="narrow">
      <Tree
        label="Files"
        items={files}
        open={open}
        onToggle={(item, isOpen) => setOpen(new Set(isOpen ? [...open, item.id] : [...open].filter((id) => id !== item.id)))}
        selected={selected}
        onSelect={(item) => setSelected(item.id)}
      />
    </Rows>
  )
}

export const Trees: Story = {
  render: () => <FileTree />,
  play: async ({ canvas }) => {
    await userEvent.tab()
    await expect(canvas.getByRole("treeitem", { name: /README/ })).toHaveFocus()
    await userEvent.keyboard("{Home}{ArrowRight}{ArrowRight}")
    await expect(canvas.getByRole("treeitem", { name: /app\.py/ })).toHaveFocus()
    await userEvent.keyboard("{Enter}")
    await expect(canvas.getByRole("treeitem", { name: /app\.py/ })).toHaveAttribute("aria-selected", "true")
    await userEvent.keyboard("{ArrowLeft}{ArrowLeft}")
    await expect(canvas.getByRole("treeitem", { name: /src/ })).toHaveAttribute("aria-expanded", "false")
    await userEvent.keyboard("r")
    await expect(canvas.getByRole("treeitem", { name: /README/ })).toHaveFocus()
    await expect(canvas.getByText("Loading")).toBeVisible()
  },
}

export const TreesDark: Story = { ...Trees, globals: { theme: "dark" } }

export const SettingsPage: Story = {
  render: () => (
    <Rows width="wide">
      <PageTitle title="Models" text="Which models people can choose." actions={<Button kind="primary">Add a model</Button>} />
      <Section title="Limits" text="They hold for everybody." actions={<Button size="small">Edit</Button>}>
        <p>None.</p>
        <ToolbarRow label="View">
          <Button kind="quiet" size="small">
            By day
          </Button>
          <Button kind="quiet" size="small">
            By model
          </Button>
        </ToolbarRow>
      </Section>
    </Rows>
  ),
  play: async ({ canvas }) => {
    await expect(canvas.getByRole("heading", { level: 1 })).toHaveTextContent("Models")
    await expect(canvas.getByRole("region", { name: "Limits" })).toBeVisible()
  },
}
