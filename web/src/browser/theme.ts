/** Light, dark, or as the system has it. `public/theme.js` does the same before the first paint. */
import { theme } from "./kept"

export function followTheme(): () => void {
  const show = () => {
    const chosen = theme.get()
    if (chosen === "system") delete document.documentElement.dataset["theme"]
    else document.documentElement.dataset["theme"] = chosen
  }
  show()
  return theme.subscribe(show)
}
