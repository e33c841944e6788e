import { Toast } from "@base-ui/react/toast"
import { CircleX, X } from "lucide-react"
import { useEffect } from "react"
import { words } from "../../words"
import { Icon } from "../Icon"
import css from "./Toasts.module.css"
import { showToasts, type ToastRegion } from "./toast"

const toasts = Toast.createToastManager()

const region: ToastRegion = {
  say: (id, title, { text, kind = "info", action, milliseconds }) =>
    toasts.add({
      id,
      title,
      description: text,
      type: kind,
      priority: kind === "error" ? "high" : "low",
      timeout: milliseconds ?? (kind === "error" ? 0 : 6000),
      ...(action && {
        actionProps: {
          children: action.label,
          onClick: () => {
            toasts.close(id)
            action.run()
          },
        },
      }),
    }),
  close: (id) => toasts.close(id),
}

/** The one region where toasts appear; F6 goes there. */
export function Toasts() {
  // After the provider inside has begun to listen: effects of what is inside come first.
  useEffect(() => showToasts(region), [])
  return (
    <Toast.Provider toastManager={toasts} limit={3}>
      <Toast.Portal>
        <Toast.Viewport className={css["viewport"]} aria-label={words.ui.notifications}>
          <Shown />
        </Toast.Viewport>
      </Toast.Portal>
    </Toast.Provider>
  )
}

function Shown() {
  const { toasts: shown } = Toast.useToastManager()
  return shown.map((toast) => (
    <Toast.Root key={toast.id} toast={toast} className={css["toast"]} swipeDirection={["down", "right"]}>
      <Toast.Content className={css["content"]}>
        {toast.type === "error" && <Icon of={CircleX} className={css["mark"]} />}
        <div className={css["text"]}>
          <Toast.Title className={css["title"]} />
          <Toast.Description className={css["description"]} />
        </div>
        <Toast.Action className={css["action"]} />
        <Toast.Close className={css["close"]} aria-label={words.ui.dismiss}>
          <Icon of={X} />
        </Toast.Close>
      </Toast.Content>
    </Toast.Root>
  ))
}
