import { type ReactNode, useId } from "react"
import { Button } from "../../ui/buttons/Button"
import { Dialog } from "../../ui/floating/Dialog"
import { words } from "../../words/with_settings"
import css from "./form.module.css"
import { Problem } from "./Problem"
import type { Form } from "./use_form"

interface FormDialogProps<T extends object> {
  form: Form<T>
  title: string
  text?: string | undefined
  submit: string
  children: ReactNode
  onClose: () => void
}

/** A short form for something new. */
export function FormDialog<T extends object>({ form, title, text, submit, children, onClose }: FormDialogProps<T>) {
  const id = useId()
  return (
    <Dialog
      isOpen
      onClose={onClose}
      title={title}
      text={text}
      width="narrow"
      actions={
        <Button kind="primary" type="submit" form={id} disabled={!form.isChanged} isBusy={form.isSaving} busyText={words.settings.saving}>
          {submit}
        </Button>
      }
    >
      <form id={id} className={css["form"]} onSubmit={(event) => form.submit(event)} noValidate>
        {children}
        <Problem form={form} />
      </form>
    </Dialog>
  )
}
