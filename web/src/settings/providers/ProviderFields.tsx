import { Checkbox } from "../../ui/inputs/Checkbox"
import { Field } from "../../ui/inputs/Field"
import { Select } from "../../ui/inputs/Select"
import { TextArea } from "../../ui/inputs/TextArea"
import { TextInput } from "../../ui/inputs/TextInput"
import { words } from "../../words/with_settings"
import form from "../form/form.module.css"
import type { Form } from "../form/use_form"
import { kindNames, kinds, type OptionName } from "./kinds"
import { optionText, type TypedProvider, withKind, withOption } from "./provider_form"

interface ProviderFieldsProps {
  form: Form<TypedProvider>
  isNew: boolean
  hasKey: boolean
}

/** The fields of one type of provider, and no others. */
export function ProviderFields({ form: typed, isNew, hasKey }: ProviderFieldsProps) {
  const text = words.settings.providers
  const { value, set, of, forgive } = typed
  const needs = kinds[value.type]
  return (
    <>
      {isNew && (
        <Field label={text.type} error={of("type")}>
          <Select
            choices={kindNames.map((kind) => ({ value: kind, label: kinds[kind].label }))}
            value={value.type}
            onChange={(type) => {
              forgive()
              set(withKind(value, type))
            }}
          />
        </Field>
      )}
      <div className={form["pair"]}>
        <Field label={text.name} hint={text.nameHint} error={of("name")}>
          <TextInput value={value.name} onChange={(name) => set({ name })} isCode />
        </Field>
        <Field label={text.displayName} isOptional error={of("display_name")}>
          <TextInput value={value.display_name} onChange={(display_name) => set({ display_name })} />
        </Field>
      </div>
      {needs.address !== "none" && (
        <Field label={text.address} hint={text.addressHints[needs.address]} isOptional={needs.address === "optional"} error={of("base_url")}>
          <TextInput type="url" value={value.base_url} onChange={(base_url) => set({ base_url })} isCode />
        </Field>
      )}
      <Field
        label={text.key}
        hint={hasKey ? text.keyStored : needs.key === "needed" ? text.keyHint : text.keyOptional[value.type === "openai-compat" ? "server" : "machine"]}
        isOptional={needs.key === "optional"}
        error={of("api_key")}
      >
        {needs.isKeyLong ? (
          <TextArea value={value.api_key} onChange={(api_key) => set({ api_key })} isCode spellCheck={false} />
        ) : (
          <TextInput type="password" autoComplete="new-password" value={value.api_key} onChange={(api_key) => set({ api_key })} isCode />
        )}
      </Field>
      {needs.options.map((name) => (
        <OptionField key={name} name={name} form={typed} />
      ))}
      <Checkbox label={text.enabled} hint={text.enabledHint} isChecked={value.enabled} onChange={(enabled) => set({ enabled })} />
    </>
  )
}

function OptionField({ name, form: typed }: { name: OptionName; form: Form<TypedProvider> }) {
  const text = words.settings.providers
  const { value, set, of } = typed
  const change = (next: string) => set({ options: withOption(value, name, next) })
  const usual = kinds[value.type].api
  return (
    <Field label={text.options[name]} hint={text.optionHints[name]} isOptional={name !== "api"} error={of(`options.${name}`)}>
      {name === "api" && usual ? (
        <Select
          choices={(["responses", "chat"] as const).map((api) => ({ value: api, label: text.apis[api] }))}
          value={optionText(value, "api") === "" ? usual : optionText(value, "api")}
          onChange={(next) => change(next === usual ? "" : next)}
        />
      ) : (
        <TextInput value={optionText(value, name)} onChange={change} isCode />
      )}
    </Field>
  )
}
