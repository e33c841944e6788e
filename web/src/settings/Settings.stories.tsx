import type { Meta, StoryObj } from "@storybook/react-vite"
import { expect, userEvent, waitFor, within } from "storybook/test"
import { Answered, type Answers, Refusal } from "../api/testing/Answered"
import type { User } from "../api/schema"
import { SettingsPage } from "./SettingsPage"
import { broken, costs, empty, filled, mia, olga, silent } from "./testing/server"
import { UsagePage } from "./usage/UsagePage"

const meta: Meta = { title: "settings/Settings", parameters: { layout: "fullscreen" } }
export default meta
type Story = StoryObj

/** The page at an address, and a text that shows that it is there. */
function page(path: string, shown: string | RegExp, answers: Answers = filled, me: User = olga): Story {
  return {
    render: () => (
      <Answered answers={answers} path={`/settings/${path}`}>
        <SettingsPage me={me} opener={null} />
      </Answered>
    ),
    play: async ({ canvas }) => {
      await waitFor(() => expect(canvas.getAllByText(shown)[0]).toBeVisible())
      await expect(canvas.queryByText("This could not be read")).toBeNull()
    },
  }
}

function wrong(path: string): Story {
  return {
    ...page(path, "", broken),
    play: async ({ canvas }) => {
      await expect((await canvas.findAllByRole("alert"))[0]).toHaveTextContent("It is not there.")
      await expect(canvas.getAllByRole("button", { name: "Try again" })[0]).toBeVisible()
    },
  }
}

export const Appearance = page("appearance", "Sending a message")
export const Notifications = page("notifications", "Play a chime when a turn ends")
export const Prompt = page("prompt", "I like owls.")
export const PromptFailed = wrong("prompt")
export const Compaction = page("compaction", "Owl Large")
export const CompactionEmpty = page("compaction", "No models yet", empty)
export const CompactionFailed = wrong("compaction")
export const Tokens = page("tokens", "Do everything that you can")
export const TokensEmpty = page("tokens", "No tokens yet", empty)
export const TokensFailed = wrong("tokens")
export const Sessions = page("sessions", "Now")
export const SessionsFailed = wrong("sessions")
export const Password = page("password", "Current password")
export const Providers = page("providers", "main")
export const ProvidersEmpty = page("providers", "No providers yet", empty)
export const ProvidersFailed = wrong("providers")
export const ProviderGone = page("providers/gone", "It is not there any more")
export const Models = page("models", "Owl Large")
export const ModelsDark: Story = { ...Models, globals: { theme: "dark" } }
export const ModelsEmpty = page("models", "No models yet", empty)
export const ModelsFailed = wrong("models")
export const ModelEdited = page("models/m1", "owl-large · main")
export const ModelAdded = page("models/new", "Add a model")
export const Overrides = page("overrides", "Agents that work")
export const OverridesFailed = wrong("overrides")
export const Advisor = page("advisor", "Models may ask an advisor")
export const AdvisorFailed = wrong("advisor")
export const Instructions = page("instructions", "Speak of owls.")
export const InstructionsFailed = wrong("instructions")
export const Templates = page("templates", "Local")
export const TemplatesEmpty = page("templates", "No templates yet", empty)
export const TemplatesFailed = wrong("templates")
export const Lifetime = page("lifetime", "Stop after")
export const LifetimeFailed = wrong("lifetime")
export const Git = page("git", "github.com")
export const GitEmpty = page("git", "No git hosts yet", empty)
export const GitFailed = wrong("git")
export const Users = page("users", "Olga")
export const UsersFailed = wrong("users")
export const Groups = page("groups", "Birders")
export const GroupsEmpty = page("groups", "No groups yet", empty)
export const GroupsFailed = wrong("groups")
export const Limits = page("limits", "Everyone")
export const LimitsEmpty = page("limits", "No limits", empty)
export const LimitsFailed = wrong("limits")
export const Audit = page("audit", /Changed provider/)
export const AuditEmpty = page("audit", "Nothing was changed", empty)
export const AuditFailed = wrong("audit")
export const NotForMembers = page("providers", "Only admins can open this page", filled, mia)
export const NoSuchPage = page("nonsense", "There is no such page")

export const Loading: Story = {
  ...page("limits", "", silent),
  play: async ({ canvas }) => {
    await expect(await canvas.findByRole("heading", { level: 1 })).toBeVisible()
    await expect(canvas.queryByRole("alert")).toBeNull()
    await expect(canvas.queryByText("No limits")).toBeNull()
  },
}

/** What is wrong is said below its field, and what was typed stays. */
export const ProviderRefused: Story = {
  ...page("providers/new", "", {
    ...filled,
    "POST /api/experimental/chats/providers": new Refusal(400, "Check name.", { name: "only letters and dots" }),
  }),
  play: async ({ canvas }) => {
    const name = await canvas.findByRole("textbox", { name: "Name" })
    await userEvent.clear(name)
    await userEvent.type(name, "not allowed!")
    await userEvent.click(canvas.getByRole("button", { name: "Add provider" }))
    await expect(await canvas.findByText("Needed: it answers nobody without one.")).toBeVisible()
    await userEvent.type(canvas.getByLabelText("API key"), "sk-secret")
    await userEvent.click(canvas.getByRole("button", { name: "Add provider" }))
    await expect(await canvas.findAllByText("Only letters and dots.")).toHaveLength(1)
    await expect(name).toHaveAttribute("aria-invalid", "true")
    await expect(name).toHaveValue("not allowed!")
    await expect(name).toHaveFocus()
    await expect(canvas.queryByText(/base_url|Check/)).toBeNull()
    await userEvent.type(name, "x")
    await expect(canvas.queryByText("Only letters and dots.")).toBeNull()
    await expect(canvas.queryByRole("alert")).toBeNull()
  },
}

/** What no field shows is said below them, in the words of the page. */
export const ProviderRefusedElsewhere: Story = {
  ...page("providers/new", "", {
    ...filled,
    "POST /api/experimental/chats/providers": new Refusal(400, "Check options.region, nonsense.", { "options.region": "one of AWS", nonsense: "not there" }),
  }),
  play: async ({ canvas }) => {
    await userEvent.type(await canvas.findByLabelText("API key"), "sk-secret")
    await userEvent.click(canvas.getByRole("button", { name: "Add provider" }))
    const alert = await canvas.findByRole("alert")
    await expect(alert).toHaveTextContent("Region: one of AWS")
    await expect(alert).toHaveTextContent("nonsense: not there")
    await expect(alert).not.toHaveTextContent("Check")
  },
}

const compatible = "OpenAI-compatible"

/** Of the models of such a server nothing is known: one has to be named to test it. A key typed for another type is gone. */
export const ProviderTested: Story = {
  ...page("providers/new", "", {
    ...filled,
    "POST /api/experimental/chats/providers/test": { ok: true, model: "owl", message: "", detail: null, kind: null, first_event_ms: 120 },
  }),
  play: async ({ canvas, canvasElement }) => {
    await userEvent.type(await canvas.findByLabelText("API key"), "sk-secret")
    await userEvent.click(canvas.getByRole("combobox", { name: "Type" }))
    await userEvent.click(await within(canvasElement.ownerDocument.body).findByRole("option", { name: compatible }))
    await waitFor(() => expect(canvas.getByLabelText(/API key/)).toHaveValue(""))
    await userEvent.click(canvas.getByRole("button", { name: "Add provider" }))
    await expect(await canvas.findByText("Needed: where its API is, as in https://models.example.com/v1.")).toBeVisible()
    await userEvent.type(canvas.getByLabelText("Address"), "http://127.0.0.1:9/v1")
    await expect(canvas.getByRole("button", { name: "Test" })).toBeDisabled()
    await userEvent.type(canvas.getByLabelText(/Model to test with/), "owl")
    await userEvent.click(canvas.getByRole("button", { name: "Test" }))
    await expect(await canvas.findByText("owl answered")).toBeVisible()
  },
}

/** What can't even be tried is said in the words of the page. */
export const ProviderNotTried: Story = {
  ...page("providers/new", "", {
    ...filled,
    "POST /api/experimental/chats/providers/test": new Refusal(400, "Check base_url.", { base_url: "a URL that starts with https:// or http://" }),
  }),
  play: async ({ canvas }) => {
    await userEvent.type(await canvas.findByLabelText("API key"), "sk-secret")
    await userEvent.click(canvas.getByRole("button", { name: "Test" }))
    await expect(await canvas.findByRole("alert")).toHaveTextContent("Address: a URL that starts with https:// or http://")
    await expect(canvas.queryByText(/base_url/)).toBeNull()
  },
}

/** The first model is the default, and the page says so before it is added. */
export const FirstModel: Story = {
  ...page("models/new", "", { ...filled, "GET /api/experimental/chats/model-configs": [] }),
  play: async ({ canvas, canvasElement }) => {
    const box = await canvas.findByRole("checkbox", { name: "Default" })
    await expect(box).toBeChecked()
    await expect(box).toHaveAttribute("aria-disabled", "true")
    await expect(canvas.getByText("The first model is the one that new chats begin with.")).toBeVisible()
    await expect(canvas.queryByText(/The catalogue has none/)).toBeNull()
    await userEvent.click(canvas.getByRole("combobox", { name: "Model" }))
    const [first] = await within(canvasElement.ownerDocument.body).findAllByRole("option")
    await expect(first).toHaveTextContent("Another, by its name")
    await userEvent.keyboard("{Escape}")
  },
}

/** One error, at its field, gone once the two are the same. */
export const PasswordTwice: Story = {
  ...page("password", ""),
  play: async ({ canvas }) => {
    await userEvent.type(await canvas.findByLabelText("Current password"), "the old one")
    await userEvent.type(canvas.getByLabelText("New password"), "a new password")
    const again = canvas.getByLabelText("New password, again")
    await userEvent.type(again, "a new passwor")
    await userEvent.click(canvas.getByRole("button", { name: "Change password" }))
    await expect(await canvas.findAllByText("The two are not the same.")).toHaveLength(1)
    await expect(canvas.queryByRole("alert")).toBeNull()
    await expect(again).toHaveFocus()
    await userEvent.type(again, "d")
    await expect(canvas.queryByText("The two are not the same.")).toBeNull()
  },
}

/** A password for someone else is seen, to be passed on; one's own typing is not. */
export const UserWithGeneratedPassword: Story = {
  ...page("users", ""),
  play: async ({ canvas, canvasElement }) => {
    await userEvent.click(await canvas.findByRole("button", { name: "Add user" }))
    const dialog = within(await within(canvasElement.ownerDocument.body).findByRole("dialog"))
    await userEvent.click(dialog.getByRole("button", { name: "Generate" }))
    const password = dialog.getByLabelText("Password")
    await waitFor(() => expect(password).toHaveAttribute("type", "text"))
    await expect((password as HTMLInputElement).value).toMatch(/^\S{23}$/)
    await expect(dialog.getByRole("button", { name: "Copy" })).toBeVisible()
    await userEvent.clear(password)
    await userEvent.type(password, "typed by hand")
    await expect(password).toHaveAttribute("type", "password")
  },
}

const summary = "GET /api/experimental/chats/cost/{user}/summary"
const spenders = "GET /api/experimental/chats/cost/users"
const now = Date.now()
const spending = { ...costs(now), total_cost_micros: 0, request_count: 0, by_model: [], by_chat: [], by_day: [] }
const people = { start_date: "", end_date: "", next_after: null, users: [{ user_id: "u2", username: "mia", display_name: "", total_cost_micros: 1_000_000, request_count: 2, unpriced_request_count: 0 }] }

function usage(answers: Answers, me: User = olga) {
  return () => (
    <Answered answers={answers} path="/usage">
      <UsagePage me={me} opener={null} />
    </Answered>
  )
}

export const Usage: Story = {
  render: usage({ [summary]: costs(now), [spenders]: people }),
  play: async ({ canvas }) => {
    await expect(await canvas.findByRole("group", { name: "Cost by day" })).toBeVisible()
    await expect(canvas.getByRole("link", { name: "Count the owls" })).toHaveAttribute("href", "/chats/c1")
    await expect(canvas.getByRole("region", { name: "By user" })).toHaveTextContent("mia")
    await expect(canvas.getByRole("button", { name: "Download CSV" })).toBeVisible()
  },
}

export const UsageDark: Story = { ...Usage, globals: { theme: "dark" } }

export const UsageOfAMember: Story = {
  render: usage({ [summary]: costs(now) }, mia),
  play: async ({ canvas }) => {
    await expect(await canvas.findByRole("link", { name: "Count the owls" })).toBeVisible()
    await expect(canvas.queryByRole("region", { name: "By user" })).toBeNull()
  },
}

export const UsageEmpty: Story = {
  render: usage({ [summary]: spending, [spenders]: people }),
  play: async ({ canvas }) => void (await expect(await canvas.findByText("Nothing was used in this period")).toBeVisible()),
}

export const UsageFailed: Story = {
  render: usage({ [summary]: new Refusal(404, "It is not there."), [spenders]: people }),
  play: async ({ canvas }) => void (await expect(await canvas.findByRole("alert")).toHaveTextContent("It is not there.")),
}
