import type { Meta, StoryObj } from "@storybook/react-vite"
import { expect, userEvent, waitFor, within } from "storybook/test"
import { Answered, type Answers, Refusal } from "../api/testing/Answered"
import type { ModelConfig, User } from "../api/schema"
import { AccountStep } from "./AccountStep"
import { FirstMessage } from "./FirstMessage"
import { ModelStep } from "./ModelStep"
import { Setup } from "./Setup"
import { SignIn } from "./SignIn"

const meta: Meta = { title: "setup/Setup" }
export default meta
type Story = StoryObj

const nothing = () => {}
const noModels: Answers = { "GET /api/experimental/chats/model-configs": [], "GET /api/experimental/chats/providers/known-models": [] }

function Step({ answers = {}, children }: { answers?: Answers; children: React.ReactNode }) {
  return (
    <Answered answers={answers}>
      <main style={{ maxWidth: 480 }}>{children}</main>
    </Answered>
  )
}

export const Account: Story = {
  render: () => (
    <Step>
      <AccountStep onDone={async () => {}} />
    </Step>
  ),
  play: async ({ canvas }) => void (await expect(await canvas.findByRole("button", { name: "Make the account" })).toBeVisible()),
}

export const AccountRefused: Story = {
  render: () => (
    <Step answers={{ "POST /api/v2/users/first": new Refusal(400, "Check the fields.", { password: "at least 12 characters" }) }}>
      <AccountStep onDone={async () => {}} />
    </Step>
  ),
  play: async ({ canvas }) => {
    await userEvent.type(await canvas.findByLabelText("Name"), "ada")
    await userEvent.type(canvas.getByLabelText("Email"), "ada@example.com")
    await userEvent.type(canvas.getByLabelText("Password"), "short")
    const code = canvas.queryByLabelText(/code/i)
    if (code) await userEvent.type(code, "abc")
    await userEvent.click(canvas.getByRole("button", { name: "Make the account" }))
    await expect(await canvas.findByText("At least 12 characters.")).toBeVisible()
    await expect(canvas.getByLabelText("Password")).toHaveAttribute("aria-invalid", "true")
    await expect(canvas.getByLabelText("Password")).toHaveFocus()
  },
}

/** A wrong code is said at its field, once, and that is where one is. */
export const WrongCode: Story = {
  render: () => (
    <Step answers={{ "POST /api/v2/users/first": new Refusal(403, "That is not the one-time code.") }}>
      <AccountStep onDone={async () => {}} />
    </Step>
  ),
  play: async ({ canvas }) => {
    const code = await canvas.findByLabelText("One-time code")
    await userEvent.type(code, "ABCD-EFGH")
    await userEvent.type(canvas.getByLabelText("Name"), "ada")
    await userEvent.type(canvas.getByLabelText("Email"), "ada@example.com")
    await userEvent.type(canvas.getByLabelText("Password"), "a good password")
    await userEvent.click(canvas.getByRole("button", { name: "Make the account" }))
    await expect(await canvas.findAllByText("That is not the one-time code.")).toHaveLength(1)
    await expect(code).toHaveAttribute("aria-invalid", "true")
    await expect(code).toHaveFocus()
  },
}

export const NoModelYet: Story = {
  render: () => (
    <Step answers={noModels}>
      <ModelStep models={[]} onDone={nothing} onLater={nothing} />
    </Step>
  ),
  play: async ({ canvas }) => {
    await waitFor(() => expect(canvas.getAllByRole("radio")).toHaveLength(1))
    await expect(canvas.getByRole("button", { name: "Later" })).toBeVisible()
  },
}

const failed = { ok: false, model: "owl", kind: "auth", message: "anthropic did not accept the credentials.", detail: null, first_event_ms: null } as const

/** A key is for one provider: it does not go to the next that is looked at, nor does what was wrong with it. */
export const AnotherKind: Story = {
  render: () => (
    <Step answers={{ ...noModels, "POST /api/experimental/chats/providers/test": { ...failed } }}>
      <ModelStep models={[]} onDone={nothing} onLater={nothing} />
    </Step>
  ),
  play: async ({ canvas, canvasElement }) => {
    await userEvent.type(await canvas.findByLabelText("API key"), "sk-secret")
    await userEvent.type(canvas.getByLabelText("Model"), "owl")
    await userEvent.click(canvas.getByRole("button", { name: "Add and go on" }))
    await expect(await canvas.findByRole("alert")).toHaveTextContent("did not accept")
    await userEvent.click(canvas.getByRole("combobox", { name: "Provider" }))
    await userEvent.click(await within(canvasElement.ownerDocument.body).findByRole("option", { name: "OpenAI-compatible" }))
    await waitFor(() => expect(canvas.getByLabelText("API key")).toHaveValue(""))
    await expect(canvas.queryByRole("alert")).toBeNull()
  },
}

/** In the words of this form, and not in those of the API. */
export const AddressRefused: Story = {
  render: () => (
    <Step answers={{ ...noModels, "POST /api/experimental/chats/providers/test": new Refusal(400, "Check base_url.", { base_url: "a URL that starts with https:// or http://" }) }}>
      <ModelStep models={[]} onDone={nothing} onLater={nothing} />
    </Step>
  ),
  play: async ({ canvas, canvasElement }) => {
    await userEvent.click(await canvas.findByRole("combobox", { name: "Provider" }))
    await userEvent.click(await within(canvasElement.ownerDocument.body).findByRole("option", { name: "OpenAI-compatible" }))
    const address = await canvas.findByLabelText("Address")
    await userEvent.type(address, "ftp://models.example.com")
    await userEvent.type(canvas.getByLabelText("Model"), "owl")
    await userEvent.click(canvas.getByRole("button", { name: "Add and go on" }))
    await expect(await canvas.findByText("A URL that starts with https:// or http://.")).toBeVisible()
    await expect(address).toHaveFocus()
    await expect(canvas.queryByRole("alert")).toBeNull()
  },
}

const admin = { role: "owner" } as User

function At({ path, models }: { path: string; models: ModelConfig[] }) {
  return (
    <Answered answers={{ ...noModels, "GET /api/experimental/chats/model-configs": models }} path={path}>
      <Setup me={admin} onSignedIn={async () => {}} />
    </Answered>
  )
}

export const ResumedAtTheMessage: Story = {
  render: () => <At path="/setup/first" models={[{ id: "m", enabled: true, provider_name: "demo" } as ModelConfig]} />,
  play: async ({ canvas }) => {
    await expect(await canvas.findByText("Step 3 of 3")).toBeVisible()
    await expect(canvas.getByRole("button", { name: "Skip" })).toBeVisible()
  },
}

/** Without a model there is nobody to ask. */
export const ResumedWithoutAModel: Story = {
  render: () => <At path="/setup/first" models={[]} />,
  play: async ({ canvas }) => void (await expect(await canvas.findByText("Step 2 of 3")).toBeVisible()),
}

let sent = ""

export const FirstWords: Story = {
  render: () => (
    <Step>
      <FirstMessage onSend={async (text) => void (sent = text)} onSkip={nothing} />
    </Step>
  ),
  play: async ({ canvas }) => {
    await userEvent.click(await canvas.findByRole("button", { name: "What can you do here?" }))
    await waitFor(() => expect(sent).toBe("What can you do here?"))
  },
}

export const WrongPassword: Story = {
  render: () => (
    <Answered answers={{ "POST /api/v2/users/login": new Refusal(401, "The name and the password do not go together.") }}>
      <SignIn onDone={async () => {}} />
    </Answered>
  ),
  play: async ({ canvas }) => {
    await userEvent.type(await canvas.findByLabelText("Name or email"), "mia")
    await userEvent.type(canvas.getByLabelText("Password"), "wrong")
    await userEvent.click(canvas.getByRole("button", { name: "Sign in" }))
    await expect(await canvas.findByText(/do not go together/)).toBeVisible()
  },
}
