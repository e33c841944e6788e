import "../src/ui/tokens.css"
import "../src/ui/page.css"
import "./preview.css"
import type { Preview } from "@storybook/react-vite"

const preview: Preview = {
  globalTypes: {
    theme: { description: "Light or dark", toolbar: { title: "Theme", items: ["light", "dark"], dynamicTitle: true } },
  },
  initialGlobals: { theme: "light" },
  parameters: { a11y: { test: "error" }, layout: "padded", controls: { disable: true } },
  decorators: [
    (Story, { globals }) => {
      document.documentElement.dataset["theme"] = String(globals["theme"])
      return <Story />
    },
  ],
}

export default preview
