import { Toast } from "@base-ui/react/toast"
import { CircleX, X } from "lucide-react"
import type { ReactNode } from "react"
import { words } from "../../words"
import { Icon } from "../Icon"
import css from "./Toasts.module.css"
import { toasts } from "./toast"

/** The one region where toasts appear; F6 goes there. */
export function Toasts({ children }: { children: ReactNode }) {
  return (
    <Toast.Provider toastManager={toasts} limit={3}>
      {children}
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
