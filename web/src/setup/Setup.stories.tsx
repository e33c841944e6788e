import type { Meta, StoryObj } from "@storybook/react-vite"
import { expect, userEvent, waitFor } from "storybook/test"
import { Answered, type Answers, Refusal } from "../api/testing/Answered"
import { AccountStep } from "./AccountStep"
import { FirstMessage } from "./FirstMessage"
import { ModelStep } from "./ModelStep"
import { SignIn } from "./SignIn"

const meta: Meta = { title: "setup/Setup" }
export default meta
type Story = StoryObj

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
      <AccountStep onDone={() => {}} />
    </Step>
  ),
  play: async ({ canvas }) => void (await expect(await canvas.findByRole("button", { name: "Make the account" })).toBeVisible()),
}

export const AccountRefused: Story = {
  render: () => (
    <Step answers={{ "POST /api/v2/users/first": new Refusal(400, "Check the fields.", { password: "at least 12 characters" }) }}>
      <AccountStep onDone={() => {}} />
    </Step>
  ),
  play: async ({ canvas }) => {
    await userEvent.type(await canvas.findByLabelText("Name"), "ada")
    await userEvent.type(canvas.getByLabelText("Email"), "ada@example.com")
    await userEvent.type(canvas.getByLabelText("Password"), "short")
    const code = canvas.queryByLabelText(/code/i)
    if (code) await userEvent.type(code, "abc")
    await userEvent.click(canvas.getByRole("button", { name: "Make the account" }))
    await expect(await canvas.findByText("at least 12 characters")).toBeVisible()
    await expect(canvas.getByLabelText("Password")).toHaveAttribute("aria-invalid", "true")
  },
}

export const NoModelYet: Story = {
  render: () => (
    <Step answers={{ "GET /api/experimental/chats/model-configs": [], "GET /api/experimental/chats/providers/known-models": [] }}>
      <ModelStep onDone={() => {}} />
    </Step>
  ),
  play: async ({ canvas }) => void (await waitFor(() => expect(canvas.getAllByRole("radio")).toHaveLength(1))),
}

let sent = ""

export const FirstWords: Story = {
  render: () => (
    <Step>
      <FirstMessage onSend={async (text) => void (sent = text)} />
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
