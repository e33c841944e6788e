import type { Meta, StoryObj } from "@storybook/react-vite"
import { expect, spyOn, userEvent, waitFor } from "storybook/test"
import type { BuildLogs, BuildStatus } from "../../api/schema"
import { call, interrupted, refused } from "./testing/calls"
import { Cards } from "./testing/Cards"
import { openByKeyboard } from "./testing/opening"

const meta: Meta = { title: "cards/Workspaces" }
export default meta
type Story = StoryObj

const template = { template_id: "t1" }
const named = { workspace_name: "dev/blue-fox", workspace_id: "w1" }

function line(id: number, stage: string, text: string, level = "info") {
  return { id, created_at: "2026-01-01T12:00:00Z", level, stage, line: text }
}

function logs(status: BuildStatus, ...lines: BuildLogs["logs"]): BuildLogs {
  const build = { id: "b1", workspace_id: "w1", number: 1, transition: "start", status, reason: "chat", created_at: "2026-01-01T12:00:00Z" } as const
  return { logs: lines, next_after: null, build }
}

function answering(...answers: (BuildLogs | number)[]) {
  const left = [...answers]
  const asked = spyOn(window, "fetch").mockImplementation(async () => {
    const next = left.length > 1 ? left.shift() : left[0]
    return typeof next === "number" ? Response.json({ message: "No." }, { status: next }) : Response.json(next)
  })
  return asked
}

export const Going: Story = {
  render: () => (
    <Cards
      of={[
        call("create_workspace", "writing", { args: { name: "blue-f" } }),
        call("create_workspace", "running", { args: template }),
        call("start_workspace", "running", { args: {}, output: "pulling the image\nstarting the agent" }),
        call("stop_workspace", "running", { args: {} }),
      ]}
    />
  ),
  play: async ({ canvas }) => {
    await expect(canvas.getByText("blue-f")).toBeVisible()
    await waitFor(() => expect(canvas.getByRole("group", { name: "Log of the build" })).toHaveTextContent("starting the agent"), { timeout: 3000 })
    await expect(canvas.getAllByText("The build has said nothing so far.")[0]).toBeVisible()
    await expect(canvas.getByRole("button", { name: /Stopping the workspace/ })).toBeVisible()
  },
}

export const GoingDark: Story = { ...Going, globals: { theme: "dark" } }

/** A build that says nothing for long is said to go on. */
export const Slow: Story = {
  render: () => <Cards of={[call("create_workspace", "running", { args: template, startedAt: new Date(Date.now() - 40_000).toISOString() })]} />,
  play: async ({ canvas }) => {
    await expect(await canvas.findByText("The build has said nothing for 30 s. It goes on.", undefined, { timeout: 3000 })).toBeVisible()
  },
}

export const Done: Story = {
  beforeEach: () => {
    answering(logs("succeeded", line(1, "Image", "pulling"), line(2, "Agent", "started")))
  },
  render: () => (
    <Cards
      of={[
        call("create_workspace", "done", { args: template, took: 31_000, result: { created: true, build_id: "b1", ...named } }),
        call("create_workspace", "done", {
          args: template,
          result: { created: false, status: "already_exists", message: "This chat has a workspace, and it runs.", ...named },
        }),
        call("start_workspace", "done", { args: {}, result: { started: true, no_build: true, ...named } }),
        call("stop_workspace", "done", { args: {}, took: 4000, result: { stopped: true, build_id: "b2", ...named } }),
      ]}
    />
  ),
  play: async ({ canvas }) => {
    await openByKeyboard(canvas.getByRole("button", { name: "Created the workspace dev/blue-fox 31 s" }))
    const box = await canvas.findByRole("group", { name: "Log of the build" })
    await expect(box).toHaveTextContent("Image pulling Agent started")
    await userEvent.tab()
    await expect(box).toHaveFocus()
    await userEvent.tab()
    await expect(canvas.getByRole("link", { name: "Open workspaces" })).toHaveFocus()
    await expect(canvas.getByRole("link", { name: "Open workspaces" })).toHaveAttribute("href", "/workspaces")
    await openByKeyboard(canvas.getByRole("button", { name: "Found the workspace dev/blue-fox" }))
    await expect(canvas.getByText("This chat has a workspace, and it runs.")).toBeVisible()
    await expect(canvas.getByRole("button", { name: "Started the workspace dev/blue-fox nothing to do" })).toBeVisible()
    await expect(canvas.getByRole("button", { name: "Stopped the workspace dev/blue-fox 4 s" })).toBeVisible()
  },
}

export const Failed: Story = {
  beforeEach: () => {
    answering(logs("failed", line(1, "Image", "no space left on device", "error")))
  },
  render: () => (
    <Cards
      of={[
        call("create_workspace", "failed", {
          args: template,
          error: "The image could not be pulled.",
          result: { error: "The image could not be pulled.", error_code: "image", next_step: "Try once more.", build_id: "b1", ...named },
        }),
        call("create_workspace", "failed", {
          args: template,
          error: "The parameters are wrong.",
          result: { error: "The parameters are wrong.", validations: [{ field: "cpu", detail: "must be at most 8" }] },
        }),
        refused("start_workspace", {}, "This chat has no workspace. Call create_workspace to get one."),
        interrupted("stop_workspace", {}),
      ]}
    />
  ),
  play: async ({ canvas }) => {
    await openByKeyboard(canvas.getByRole("button", { name: /Could not create the workspace dev\/blue-fox: The image could not be pulled/ }))
    await waitFor(() => expect(canvas.getByRole("group", { name: "Log of the build" })).toHaveTextContent("no space left on device"))
    await openByKeyboard(canvas.getByRole("button", { name: /The parameters are wrong/ }))
    await expect(canvas.getByText("must be at most 8")).toBeVisible()
    await expect(canvas.getByRole("button", { name: /Could not start the workspace: This chat has no workspace/ })).toBeVisible()
    await expect(canvas.getByRole("button", { name: "Stopping the workspace Stopped" })).toBeVisible()
  },
}

export const FailedDark: Story = { ...Failed, globals: { theme: "dark" } }

const goesOn = "This call was interrupted; the build goes on. start_workspace waits for it."

/** The build of a call that was cut is followed to its end. */
export const Interrupted: Story = {
  beforeEach: () => {
    answering(logs("running", line(1, "Image", "pulling")), logs("succeeded", line(2, "Agent", "started")))
  },
  render: () => <Cards of={[call("create_workspace", "failed", { args: template, error: goesOn, result: { error: goesOn, build_id: "b1", ...named } })]} />,
  play: async ({ canvas }) => {
    await openByKeyboard(canvas.getByRole("button", { name: "Creating the workspace dev/blue-fox Stopped waiting" }))
    await canvas.findByText("The build goes on.")
    await waitFor(() => expect(canvas.getByRole("group", { name: "Log of the build" })).toHaveTextContent("Image pulling Agent started"), { timeout: 5000 })
    await waitFor(() => expect(canvas.queryByText("The build goes on.")).toBeNull())
  },
}

export const LogUnreadable: Story = {
  beforeEach: () => {
    answering(403, logs("succeeded"))
  },
  render: () => <Cards of={[call("start_workspace", "done", { args: {}, result: { started: true, build_id: "b1", ...named } })]} />,
  play: async ({ canvas }) => {
    await openByKeyboard(canvas.getByRole("button", { name: /Started the workspace/ }))
    await expect(await canvas.findByText("The log could not be read.")).toBeVisible()
    await userEvent.click(canvas.getByRole("button", { name: "Try again" }))
    await expect(await canvas.findByText("The build has said nothing.")).toBeVisible()
  },
}

export const Templates: Story = {
  render: () => (
    <Cards
      of={[
        call("list_templates", "writing", { args: { query: "pyth" } }),
        call("list_templates", "running", { args: {} }),
        call("list_templates", "done", {
          args: { query: "python" },
          result: {
            templates: [
              { id: "t1", name: "python", display_name: "Python", description: "Python 3.13 with uv." },
              { id: "t2", name: "plain", description: "A shell, and nothing else." },
            ],
            page: 1,
            next_step: "Call create_workspace.",
            recommended_template_id: "t1",
          },
        }),
        call("list_templates", "done", { args: { query: "cobol" }, result: { templates: [], page: 1, next_step: "" } }),
        refused("list_templates", {}, "You may not see templates."),
        interrupted("list_templates", {}),
        call("read_template", "running", { args: template }),
        call("read_template", "done", {
          args: template,
          result: {
            template: { id: "t1", name: "python", display_name: "Python", description: "Python 3.13 with uv.", readme: "# Python\n\nWith **uv**." },
            parameters: [
              { name: "cpu", type: "number", description: "Cores.", default: "2", required: false, mutable: true },
              { name: "repo", type: "string", description: "What to clone.", required: true, mutable: false },
            ],
          },
        }),
        refused("read_template", template, "There is no such template for you."),
        interrupted("read_template", template),
      ]}
    />
  ),
  play: async ({ canvas }) => {
    await expect(canvas.getByText(/Looking for templates for “pyth”/)).toBeVisible()
    await openByKeyboard(canvas.getByRole("button", { name: "Looked for templates for “python” 2 templates" }))
    await expect(canvas.getByText("Recommended")).toBeVisible()
    await openByKeyboard(canvas.getByRole("button", { name: /“cobol” 0 templates/ }))
    await expect(canvas.getByText("There is no template that fits.")).toBeVisible()
    await expect(canvas.getByRole("button", { name: /Could not look for templates: You may not/ })).toBeVisible()
    await openByKeyboard(canvas.getByRole("button", { name: "Read the template Python" }))
    await expect(canvas.getByRole("table", { name: "Parameters" })).toHaveTextContent("cpunumber2Cores.")
    await userEvent.tab()
    await expect(canvas.getByRole("group", { name: "Python" })).toHaveFocus()
    await expect(canvas.getByRole("button", { name: /Could not read the template: There is no such/ })).toBeVisible()
  },
}

export const TemplatesDark: Story = { ...Templates, globals: { theme: "dark" } }

export const Skills: Story = {
  render: () => (
    <Cards
      of={[
        call("read_skill", "writing", { args: { name: "rel" } }),
        call("read_skill", "running", { args: { name: "release" } }),
        call("read_skill", "done", {
          args: { name: "release" },
          result: { name: "release", directory: "/home/dev/skills/release", body: "# Release\n\n1. Tag it", files: ["notes.md", "tag.sh"] },
        }),
        refused("read_skill", { name: "relaese" }, "There is no skill called 'relaese'. Did you mean release?"),
        interrupted("read_skill", { name: "release" }),
        call("read_skill_file", "running", { args: { name: "release", path: "tag.sh" } }),
        call("read_skill_file", "done", {
          args: { name: "release", path: "tag.sh" },
          result: { content: "git tag $1", note: "Only the beginning of 90000 bytes. Use read_file for the rest." },
        }),
        call("read_skill_file", "done", { args: { name: "release", path: "notes.md" }, result: { content: "Write **notes**." } }),
        refused("read_skill_file", { name: "release", path: "x" }, "There is no such file."),
        interrupted("read_skill_file", { name: "release", path: "tag.sh" }),
      ]}
    />
  ),
  play: async ({ canvas }) => {
    await openByKeyboard(canvas.getByRole("button", { name: "Read the skill release" }))
    await userEvent.tab()
    await expect(canvas.getByRole("group", { name: "release" })).toHaveFocus()
    await expect(canvas.getByRole("heading", { name: "Release" })).toBeVisible()
    await openByKeyboard(canvas.getByRole("button", { name: "Read release/tag.sh" }))
    await expect(canvas.getByText(/Only the beginning of 90000 bytes/)).toBeVisible()
    await expect(canvas.getByRole("button", { name: /Could not read the skill relaese: There is no skill/ })).toBeVisible()
    await expect(canvas.getByRole("button", { name: /Could not read release\/x: There is no such file/ })).toBeVisible()
  },
}

export const SkillsDark: Story = { ...Skills, globals: { theme: "dark" } }
