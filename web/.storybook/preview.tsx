import "../src/ui/tokens.css"
import "../src/ui/page.css"
import "./preview.css"
import type { Preview } from "@storybook/react-vite"
import { configure } from "storybook/test"
import { UiRoot } from "../src/ui/UiRoot"

// What a browser on busy cores may take; nothing waits for it that comes sooner.
configure({ asyncUtilTimeout: 10_000 })

const preview: Preview = {
  globalTypes: {
    theme: { description: "Light or dark", toolbar: { title: "Theme", items: ["light", "dark"], dynamicTitle: true } },
  },
  initialGlobals: { theme: "light" },
  parameters: {
    a11y: {
      test: "error",
      // Base UI keeps the focus inside of what floats with guards that pass it on at once: nobody rests on one.
      config: { rules: [{ id: "aria-hidden-focus", selector: "[aria-hidden=true]:not([data-base-ui-focus-guard])" }] },
    },
    layout: "padded",
    controls: { disable: true },
  },
  decorators: [
    (Story, { globals }) => {
      document.documentElement.dataset["theme"] = String(globals["theme"])
      return (
        <UiRoot>
          <Story />
        </UiRoot>
      )
    },
  ],
}

export default preview
