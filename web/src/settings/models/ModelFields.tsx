import type { ModelPrices } from "../../api/schema"
import { Checkbox } from "../../ui/inputs/Checkbox"
import { Field } from "../../ui/inputs/Field"
import { NumberInput } from "../../ui/inputs/NumberInput"
import { TextInput } from "../../ui/inputs/TextInput"
import { words } from "../../words/with_settings"
import form from "../form/form.module.css"
import type { Form } from "../form/use_form"
import { priceNames, type TypedModel } from "./model_form"

interface ModelFieldsProps {
  form: Form<TypedModel>
  /** What holds where nothing is typed. */
  catalogue: ModelPrices | null
  /** Why this is the default and nothing else can be chosen here. */
  fixedDefault: string | null
}

export function ModelFields({ form: typed, catalogue, fixedDefault }: ModelFieldsProps) {
  const { value, set, of } = typed
  const text = words.settings.models
  return (
    <>
      <Field label={text.displayName} isOptional error={of("display_name")}>
        <TextInput value={value.display_name} onChange={(display_name) => set({ display_name })} />
      </Field>
      <div className={form["pair"]}>
        <Field label={text.contextLimit} hint={text.contextLimitHint} error={of("context_limit")}>
          <NumberInput value={value.context_limit} onChange={(context_limit) => set({ context_limit })} min={1} step={1000} unit={text.tokens} />
        </Field>
        <Field label={text.threshold} hint={text.thresholdHint} error={of("compression_threshold")}>
          <NumberInput
            value={value.compression_threshold}
            onChange={(compression_threshold) => set({ compression_threshold })}
            min={0}
            max={100}
            unit="%"
          />
        </Field>
      </div>
      <fieldset>
        <legend>{text.prices}</legend>
        <p>{value.model === "" ? text.pricesOfNone : catalogue ? text.pricesHint : text.pricesUnknown}</p>
        <div className={form["pair"]}>
          {priceNames.map((name) => (
            <Field key={name} label={text.price[name]} error={of(`prices.${name}`)}>
              <TextInput
                inputMode="decimal"
                value={value.prices[name]}
                placeholder={catalogue?.[name] ?? ""}
                onChange={(next) => set({ prices: { ...value.prices, [name]: next } })}
              />
            </Field>
          ))}
        </div>
      </fieldset>
      <Checkbox label={text.enabled} hint={text.enabledHint} isChecked={value.enabled} onChange={(enabled) => set({ enabled })} />
      <Checkbox
        label={text.isDefault}
        hint={fixedDefault ?? text.isDefaultHint}
        isChecked={value.is_default || fixedDefault !== null}
        isDisabled={fixedDefault !== null}
        onChange={(is_default) => set({ is_default })}
      />
    </>
  )
}
