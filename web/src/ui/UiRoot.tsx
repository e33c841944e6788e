import { CSPProvider } from "@base-ui/react/csp-provider"
import { Tooltip } from "@base-ui/react/tooltip"
import type { ReactNode } from "react"
import { Toasts } from "./floating/Toasts"
import { SharedTooltip } from "./floating/Tooltip"

/** What the pieces need around them, once per page: no style elements (the policy forbids them), the tooltip, toasts. */
export function UiRoot({ children }: { children: ReactNode }) {
  return (
    <CSPProvider disableStyleElements>
      <Tooltip.Provider delay={500} closeDelay={0}>
        <Toasts>{children}</Toasts>
        <SharedTooltip />
      </Tooltip.Provider>
    </CSPProvider>
  )
}
