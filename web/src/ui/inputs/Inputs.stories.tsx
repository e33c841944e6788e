import type { Meta, StoryObj } from "@storybook/react-vite"
import { Columns2, Rows2, Search } from "lucide-react"
import { useState } from "react"
import { expect, screen, userEvent, waitFor } from "storybook/test"
import { Rows } from "../StoryFrame"
import { Checkbox } from "./Checkbox"
import { Field } from "./Field"
import { NumberInput } from "./NumberInput"
import { RadioCards } from "./RadioCards"
import { Segmented } from "./Segmented"
import { Select } from "./Select"
import { Switch } from "./Switch"
import { TextArea } from "./TextArea"
import { TextInput } from "./TextInput"

const meta: Meta = { title: "ui/Inputs" }
export default meta
type Story = StoryObj

function TextFields() {
  const [name, setName] = useState("")
  const [prompt, setPrompt] = useState("")
  return (
    <Rows width="narrow">
      <Field label="Name" hint="What people see in the list.">
        <TextInput value={name} onChange={setName} placeholder="Ada" />
      </Field>
      <Field label="Address" error="An address begins with https://.">
        <TextInput defaultValue="example" isCode />
      </Field>
      <Field label="Search" isLabelHidden>
        <TextInput icon={Search} placeholder="Search chats" type="search" />
      </Field>
      <Field label="Prompt" isOptional>
        <TextArea value={prompt} onChange={setPrompt} minRows={2} maxRows={6} />
      </Field>
      <Field label="Key" isDisabled hint="Set by the environment.">
        <TextInput defaultValue="••••••••" />
      </Field>
    </Rows>
  )
}

export const Text: Story = {
  render: () => <TextFields />,
  play: async ({ canvas }) => {
    const name = canvas.getByRole("textbox", { name: "Name" })
    await expect(name).toHaveAccessibleDescription("What people see in the list.")
    await userEvent.type(name, "Grace")
    await expect(name).toHaveValue("Grace")
    const wrong = canvas.getByRole("textbox", { name: "Address" })
    await expect(wrong).toHaveAttribute("aria-invalid", "true")
    await expect(wrong).toHaveAccessibleDescription("An address begins with https://.")
    const prompt = canvas.getByRole("textbox", { name: /Prompt/ })
    const before = prompt.offsetHeight
    await userEvent.type(prompt, "one{enter}two{enter}three{enter}four")
    await expect(prompt.offsetHeight).toBeGreaterThan(before)
    await expect(canvas.getByRole("textbox", { name: "Key" })).toBeDisabled()
  },
}

export const TextDark: Story = { ...Text, globals: { theme: "dark" } }

const models = [
  { value: "small", label: "Small", hint: "Quick, for short questions" },
  { value: "large", label: "Large", hint: "Slow, for hard ones" },
  { value: "gone", label: "Old", isDisabled: true },
]

function Choices() {
  const [model, setModel] = useState<string | null>(null)
  const [days, setDays] = useState<number | null>(7)
  const [layout, setLayout] = useState("unified")
  const [isOn, setIsOn] = useState(false)
  const [isChecked, setIsChecked] = useState(false)
  const [who, setWho] = useState("me")
  return (
    <Rows width="narrow">
      <Field label="Model">
        <Select choices={models} value={model} onChange={setModel} />
      </Field>
      <Field label="Kept for">
        <NumberInput value={days} onChange={setDays} min={1} max={30} unit="days" />
      </Field>
      <Field label="Push" hint="On this device." layout="row">
        <Switch isOn={isOn} onChange={setIsOn} />
      </Field>
      <Field label="Sounds" layout="row" isDisabled>
        <Switch isOn onChange={setIsOn} isDisabled />
      </Field>
      <Checkbox label="Include archived" hint="They are slower to search." isChecked={isChecked} onChange={setIsChecked} />
      <Checkbox label="All chats" isMixed isChecked={false} onChange={setIsChecked} />
      <Segmented
        label="Layout"
        value={layout}
        onChange={setLayout}
        segments={[
          { value: "unified", label: "One column", icon: Rows2 },
          { value: "split", label: "Side by side", icon: Columns2 },
        ]}
      />
      <RadioCards
        label="Who sees it"
        value={who}
        onChange={setWho}
        cards={[
          { value: "me", label: "Only you", text: "Nobody else finds it." },
          { value: "all", label: "Everybody here", text: "People with an account can read it." },
          { value: "world", label: "The world", text: "Not allowed on this server.", isDisabled: true },
        ]}
      />
    </Rows>
  )
}

export const Choosing: Story = {
  render: () => <Choices />,
  play: async ({ canvas }) => {
    const select = canvas.getByRole("combobox", { name: "Model" })
    select.focus()
    await userEvent.keyboard("{Enter}")
    await screen.findByRole("listbox")
    await userEvent.click(await screen.findByRole("option", { name: /Large/ }))
    await waitFor(() => expect(select).toHaveTextContent("Large"))
    await waitFor(() => expect(screen.queryByRole("listbox")).toBeNull())
    await userEvent.click(canvas.getByRole("button", { name: "More" }))
    await expect(canvas.getByRole("textbox", { name: "Kept for" })).toHaveValue("8")
    const push = canvas.getByRole("switch", { name: "Push" })
    await userEvent.click(push)
    await expect(push).toBeChecked()
    await userEvent.click(canvas.getByText("Include archived"))
    await expect(canvas.getByRole("checkbox", { name: "Include archived" })).toBeChecked()
    await expect(canvas.getByRole("checkbox", { name: "All chats" })).toBePartiallyChecked()
    canvas.getByRole("radio", { name: "One column" }).focus()
    await userEvent.keyboard("{ArrowRight}")
    await expect(canvas.getByRole("radio", { name: "Side by side" })).toBeChecked()
    await userEvent.click(canvas.getByText("Everybody here"))
    await expect(canvas.getByRole("radio", { name: "Everybody here" })).toBeChecked()
  },
}

export const ChoosingDark: Story = { ...Choosing, globals: { theme: "dark" } }

export const SelectOpen: Story = {
  render: () => <Choices />,
  play: async ({ canvas }) => {
    await userEvent.click(canvas.getByRole("combobox", { name: "Model" }))
    await expect(await screen.findByRole("option", { name: /Old/ })).toHaveAttribute("aria-disabled", "true")
  },
}
