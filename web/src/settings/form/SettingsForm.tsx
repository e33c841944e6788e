import type { ReactNode } from "react"
import { Button } from "../../ui/buttons/Button"
import { Check } from "lucide-react"
import { Icon } from "../../ui/Icon"
import { words } from "../../words/with_settings"
import css from "./form.module.css"
import { LeaveGuard } from "./LeaveGuard"
import { Problem } from "./Problem"
import type { Form } from "./use_form"

interface SettingsFormProps<T extends object> {
  form: Form<T>
  children: ReactNode
  /** On the button, where it isn't "Save". */
  submit?: string | undefined
  /** Beside the button: trying it out, deleting it. */
  actions?: ReactNode
  /** Something new may be added as it is proposed. */
  isNew?: boolean | undefined
}

/** Fields, and below them Save, which is there to be pressed only when something has changed. */
export function SettingsForm<T extends object>({ form, children, submit = words.common.save, actions, isNew = false }: SettingsFormProps<T>) {
  return (
    <form className={css["form"]} onSubmit={(event) => form.submit(event)} noValidate>
      {children}
      <Problem form={form} />
      <div className={css["actions"]}>
        <Button
          kind="primary"
          type="submit"
          disabled={!form.isChanged && !isNew && !form.isSaving}
          isBusy={form.isSaving}
          busyText={words.settings.saving}
        >
          {submit}
        </Button>
        {form.isChanged && !isNew && !form.isSaving && (
          <Button kind="quiet" onClick={() => form.reset()}>
            {words.settings.discard}
          </Button>
        )}
        <span role="status" className={css["saved"]}>
          {form.isSaved && (
            <>
              <Icon of={Check} /> {words.common.saved}
            </>
          )}
        </span>
        {actions && <span className={css["others"]}>{actions}</span>}
      </div>
      <LeaveGuard isChanged={form.isChanged && !form.isSaving} />
    </form>
  )
}
