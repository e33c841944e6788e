import { Toast } from "@base-ui/react/toast"

export interface ToastOptions {
  text?: string | undefined
  kind?: "info" | "error" | undefined
  /** One thing that can be done about it, as in Undo. */
  action?: { label: string; run: () => void } | undefined
  /** Saying the same again replaces what was said. */
  id?: string | undefined
  /** How long it stays; errors stay until they are dismissed. */
  milliseconds?: number | undefined
}

export const toasts = Toast.createToastManager()

/** Says that something has happened, from anywhere. Returns what `closeToast` needs. */
export function toast(title: string, { text, kind = "info", action, id, milliseconds }: ToastOptions = {}): string {
  const added = toasts.add({
    title,
    description: text,
    type: kind,
    priority: kind === "error" ? "high" : "low",
    timeout: milliseconds ?? (kind === "error" ? 0 : 6000),
    ...(id === undefined ? {} : { id }),
    ...(action && {
      actionProps: {
        children: action.label,
        onClick: () => {
          toasts.close(added)
          action.run()
        },
      },
    }),
  })
  return added
}

export function closeToast(id: string): void {
  toasts.close(id)
}
