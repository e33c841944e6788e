import { type ReactNode, useState } from "react"
import { useLocation } from "wouter"
import { Button } from "../../ui/buttons/Button"
import { words } from "../../words/with_settings"
import { DeleteByName } from "./DeleteByName"
import { SettingsForm } from "./SettingsForm"
import type { Form } from "./use_form"

interface DeletableFormProps<T extends object> {
  form: Form<T>
  /** What has to be typed to delete it. */
  name: string
  /** What goes with it. */
  text: string
  /** The list that it is in. */
  back: string
  onDelete: () => Promise<unknown>
  /** After it is gone: what else is known of it is read anew. */
  onDeleted: () => Promise<unknown>
  /** Before the button that deletes it. */
  actions?: ReactNode
  children: ReactNode
}

/** A form over something that is one of several, and can be deleted. */
export function DeletableForm<T extends object>({ form, name, text, back, onDelete, onDeleted, actions, children }: DeletableFormProps<T>) {
  const [isDeleting, setDeleting] = useState(false)
  const [, navigate] = useLocation()
  return (
    <>
      <SettingsForm
        form={form}
        actions={
          <>
            {actions}
            <Button kind="danger" onClick={() => setDeleting(true)}>
              {words.settings.deleting.submit}
            </Button>
          </>
        }
      >
        {children}
      </SettingsForm>
      {isDeleting && (
        <DeleteByName
          name={name}
          text={text}
          onClose={() => setDeleting(false)}
          onDelete={async () => {
            await onDelete()
            navigate(back, { replace: true })
            await onDeleted()
          }}
        />
      )}
    </>
  )
}
