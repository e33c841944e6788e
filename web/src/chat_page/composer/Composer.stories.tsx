import type { Meta, StoryObj } from "@storybook/react-vite"
import { useState } from "react"
import { expect, fireEvent, fn, userEvent, waitFor, within } from "storybook/test"
import { queries } from "../../api/queries"
import type { ModelConfig, Role } from "../../api/schema"
import { type Attached, type Draft, draftOf, nothingWritten } from "../../chat"
import { modelConfig } from "../testing/made_chat"
import { StoryQueries } from "../testing/StoryQueries"
import { ComposerBox, type ComposerBoxProps } from "./ComposerBox"
import type { ModelChoice } from "./model_choice"

const meta: Meta = { title: "chat/Composer" }
export default meta
type Story = StoryObj

let drafts = 0
const few = [modelConfig("a"), modelConfig("b", { provider_name: "OpenAI", reasoning_efforts: ["low", "high"] })]
const many = Array.from({ length: 12 }, (_, at) => modelConfig(`${at}`, { provider_name: at % 2 ? "OpenAI" : "Anthropic", context_limit: 100_000 * (at + 1) }))

/** As in the page, but for the server. */
function useChoice(models: readonly ModelConfig[]): ModelChoice {
  const [model, choose] = useState(models[0])
  const [effort, chooseEffort] = useState<ModelChoice["effort"]>(null)
  return { models, isKnown: true, model, effort, canBeDefault: true, changed: {}, choose, chooseEffort }
}

interface ShownProps extends Partial<Omit<ComposerBoxProps, "draft" | "choice">> {
  written?: Partial<Draft>
  models?: readonly ModelConfig[]
}

const sent = fn()

function Shown({ written = {}, models = few, ...props }: ShownProps) {
  const [draft] = useState(() => {
    const made = draftOf(`story-composer-${(drafts += 1)}`)
    made.setState({ ...nothingWritten, editing: null, ...written })
    return made
  })
  const choice = useChoice(models)
  return (
    <main>
      <ComposerBox draft={draft} choice={choice} isBusy={false} isStopping={false} prompts={[]} commands={[]} onCommand={fn()} onSend={sent} {...props} />
    </main>
  )
}

const file: Attached = { key: "k", name: "report.pdf", mediaType: "application/pdf", bytes: 1200, id: "f", progress: null, error: null }

export const Empty: Story = {
  render: () => <Shown />,
  play: async ({ canvas }) => {
    await expect(canvas.getByRole("button", { name: "Send" })).toBeDisabled()
    await expect(canvas.getByRole("textbox", { name: "Message" })).toHaveFocus()
  },
}

export const Written: Story = {
  render: () => <Shown written={{ text: "Look at this" }} />,
  play: async ({ canvas }) => {
    sent.mockClear()
    await userEvent.keyboard("{Enter}")
    await expect(sent).toHaveBeenCalledOnce()
    await expect(canvas.getByRole("button", { name: "Send" })).toBeEnabled()
  },
}

const sentHead = fn()

/** Pressed twice by accident, Enter does not send what waits. */
export const PressedTwice: Story = {
  render: () => <Emptied />,
  play: async ({ canvas }) => {
    sentHead.mockClear()
    const box = canvas.getByRole("textbox")
    // In one go, so that a slow machine does not take its time between the two.
    for (let press = 0; press < 2; press++) fireEvent.keyDown(box, { key: "Enter" })
    await expect(box).toHaveValue("")
    await expect(sentHead).not.toHaveBeenCalled()
  },
}

function Emptied() {
  const [draft] = useState(() => {
    const made = draftOf(`story-composer-${(drafts += 1)}`)
    made.setState({ text: "Wait for me" })
    return made
  })
  const choice = useChoice(few)
  const empty = () => draft.setState(nothingWritten)
  return (
    <main>
      <ComposerBox draft={draft} choice={choice} isBusy isStopping={false} prompts={[]} commands={[]} onCommand={fn()} onSend={empty} onSendHead={sentHead} />
    </main>
  )
}

/** Where nothing was sent a moment ago, it is meant. */
export const PressedWhileEmpty: Story = {
  render: () => <Shown isBusy onSendHead={sentHead} />,
  play: async ({ canvas }) => {
    sentHead.mockClear()
    canvas.getByRole("textbox").focus()
    await userEvent.keyboard("{Enter}")
    await expect(sentHead).toHaveBeenCalledOnce()
  },
}

export const WithFiles: Story = {
  render: () => (
    <Shown
      written={{
        text: "Read these",
        files: [file, { ...file, key: "l", name: "pasted.txt", isPasted: true }],
        references: [
          { type: "file-reference", file_name: "src/serve.ts", start_line: 3, end_line: 9, content: "x" },
          { type: "file-reference", file_name: "src/serve.ts", start_line: 12, end_line: 12, content: "x", comment: "Why?\nSince when?" },
        ],
      }}
    />
  ),
  play: async ({ canvas }) => {
    await expect(canvas.getByText("serve.ts lines 3–9")).toBeVisible()
    const remark = canvas.getByRole("textbox", { name: "Comment on serve.ts line 12" })
    await userEvent.type(remark, " Really?")
    await expect(remark).toHaveValue("Why?\nSince when? Really?")
    await expect(canvas.getByRole("button", { name: "Paste inline" })).toBeVisible()
    await userEvent.click(canvas.getByRole("button", { name: "Remove report.pdf" }))
    await expect(canvas.queryByText("report.pdf")).toBeNull()
    await expect(canvas.getByRole("button", { name: "Send" })).toBeEnabled()
  },
}

export const Uploading: Story = {
  render: () => <Shown written={{ text: "Read this", files: [{ ...file, id: null, progress: 0.4 }] }} />,
  play: async ({ canvas }) => {
    await expect(canvas.getByText("40 %")).toBeVisible()
    await expect(canvas.getByRole("button", { name: "Send" })).toHaveAccessibleDescription("Files are on their way.")
  },
}

export const FailedFile: Story = {
  render: () => <Shown written={{ text: "Read this", files: [{ ...file, id: null, error: "The disk is full." }] }} />,
  play: async ({ canvas }) => {
    await expect(canvas.getByRole("alert")).toHaveTextContent("The disk is full.")
    const send = canvas.getByRole("button", { name: "Send" })
    await expect(send).toBeDisabled()
    await expect(send).toHaveAccessibleDescription("A file has not arrived. Try it again or remove it.")
    await userEvent.click(canvas.getByRole("button", { name: "Remove report.pdf" }))
    await expect(send).toBeEnabled()
  },
}

export const FailedFileDark: Story = { ...FailedFile, globals: { theme: "dark" } }

const stopped = fn()

export const Busy: Story = {
  render: () => <Shown isBusy onStop={stopped} />,
  play: async ({ canvas }) => {
    await expect(canvas.queryByRole("button", { name: "Send" })).toBeNull()
    await userEvent.keyboard("{Escape}")
    await expect(stopped).toHaveBeenCalledOnce()
    await userEvent.keyboard("and then")
    await expect(canvas.getByRole("button", { name: "Queue" })).toBeEnabled()
  },
}

export const Stopping: Story = {
  render: () => <Shown isBusy isStopping onStop={fn()} />,
  play: async ({ canvas }) => expect(canvas.getByRole("button", { name: "Stopping" })).toBeDisabled(),
}

const cancelled = fn()

export const Editing: Story = {
  render: () => <Shown written={{ text: "What I meant", editing: { messageId: 1, before: nothingWritten } }} onCancelEdit={cancelled} />,
  play: async ({ canvas }) => {
    await expect(canvas.getByText("Editing an earlier message. What followed it will be replaced.")).toBeVisible()
    await expect(canvas.getByRole("button", { name: "Save and run again" })).toBeEnabled()
    await userEvent.keyboard("{Escape}")
    await expect(cancelled).toHaveBeenCalledOnce()
  },
}

const commands = [
  { name: "compact", text: "Summarizes it, so that it takes less of the context" },
  { name: "review", text: "Reads changes with care", isSkill: true },
]
const run = fn()

export const SlashMenu: Story = {
  render: () => <Shown written={{ text: "/" }} commands={commands} onCommand={run} />,
  play: async ({ canvas }) => {
    const options = () => canvas.queryAllByRole("option")
    await expect(options()).toHaveLength(2)
    await userEvent.keyboard("{ArrowDown}")
    await expect(options()[1]).toHaveAttribute("aria-selected", "true")
    await expect(canvas.getByRole("textbox")).toHaveAttribute("aria-activedescendant", options()[1]?.id)
    await userEvent.keyboard("{Enter}")
    await expect(canvas.getByRole("textbox")).toHaveValue("/review ")
    await userEvent.clear(canvas.getByRole("textbox"))
    await userEvent.keyboard("/c{Tab}")
    await expect(run).toHaveBeenCalledWith("compact")
    await userEvent.keyboard("/")
    await expect(options()).toHaveLength(2)
    await userEvent.keyboard("{Escape}")
    await expect(options()).toHaveLength(0)
    await userEvent.keyboard("{Backspace}/")
  },
}

export const ModelMenu: Story = {
  render: () => <Shown />,
  play: async ({ canvas }) => {
    const page = within(document.body)
    await userEvent.click(canvas.getByRole("button", { name: "Model: Model a" }))
    await userEvent.click(await page.findByRole("menuitemradio", { name: /Model b/ }))
    await userEvent.click(await canvas.findByRole("button", { name: "Effort: Default effort" }))
    await userEvent.click(await page.findByRole("menuitemradio", { name: "High" }))
    await expect(canvas.getByRole("button", { name: "Effort: High" })).toBeVisible()
    await userEvent.click(canvas.getByRole("button", { name: "Model: Model b" }))
    await expect(await page.findByRole("menuitemradio", { name: /Model b/ })).toBeChecked()
  },
}

export const ModelSearch: Story = {
  render: () => <Shown models={many} />,
  play: async ({ canvas }) => {
    const page = within(document.body)
    await userEvent.click(canvas.getByRole("button", { name: "Model: Model 0" }))
    const box = await page.findByRole("combobox", { name: "Find a model" })
    await waitFor(() => expect(box).toHaveFocus())
    await expect(page.getAllByRole("group")).toHaveLength(2)
    await userEvent.keyboard("openai 600k{Enter}")
    await expect(await canvas.findByRole("button", { name: "Model: Model 5" })).toBeVisible()
    await userEvent.click(canvas.getByRole("button", { name: "Model: Model 5" }))
    await userEvent.type(await page.findByRole("combobox"), "nothing like it")
    await expect(page.getByText("No model has that in its name.")).toBeInTheDocument()
    await userEvent.clear(page.getByRole("combobox"))
  },
}

export const ModelSearchDark: Story = { ...ModelSearch, globals: { theme: "dark" } }

function WithoutModel({ role }: { role: Role }) {
  return (
    <StoryQueries known={[[queries.me.queryKey, { role }]]}>
      <Shown models={[]} written={{ text: "Hello" }} />
    </StoryQueries>
  )
}

export const NoModelForAdmins: Story = {
  render: () => <WithoutModel role="owner" />,
  play: async ({ canvas }) => void (await expect(canvas.getByRole("link", { name: "Set up a model" })).toHaveAttribute("href", "/settings/providers")),
}

export const NoModel: Story = {
  render: () => <WithoutModel role="member" />,
  play: async ({ canvas }) => {
    await expect(canvas.getByText("No model is set up")).toBeVisible()
    const send = canvas.getByRole("button", { name: "Send" })
    await expect(send).toBeDisabled()
    await expect(send).toHaveAccessibleDescription("An admin can add one under Settings, Providers.")
  },
}

const planned = fn()

export const Planning: Story = {
  render: () => <Shown plan={{ isOn: true, set: planned }} />,
  play: async ({ canvas }) => {
    const button = canvas.getByRole("button", { name: "Plan first" })
    await expect(button).toHaveAttribute("aria-pressed", "true")
    await userEvent.click(button)
    await expect(planned).toHaveBeenCalledWith(false)
  },
}

export const HiddenCharacters: Story = {
  render: () => <Shown written={{ text: "de\u200blete all" }} />,
  play: async ({ canvas }) => {
    await expect(canvas.getByText("1 invisible character is in this message.")).toBeVisible()
    await userEvent.click(canvas.getByRole("button", { name: "Remove them" }))
    await expect(canvas.getByRole("textbox")).toHaveValue("delete all")
  },
}
