import type { StorybookConfig } from "@storybook/react-vite"

/** As `ui/code/lexers.ts` has them. */
const highlighted = [
  ..."bash c cpp csharp css diff dockerfile go graphql ini java javascript json kotlin".split(" "),
  ..."lua makefile markdown nix php python ruby rust scss sql swift typescript xml yaml".split(" "),
]

/** Named here so that Vite prepares them at once, not in the middle of a test, which would load the page again. */
const prepared = [
  "@base-ui/react/checkbox",
  "@base-ui/react/collapsible",
  "@base-ui/react/context-menu",
  "@base-ui/react/csp-provider",
  "@base-ui/react/dialog",
  "@base-ui/react/field",
  "@base-ui/react/input",
  "@base-ui/react/menu",
  "@base-ui/react/number-field",
  "@base-ui/react/popover",
  "@base-ui/react/radio",
  "@base-ui/react/radio-group",
  "@base-ui/react/select",
  "@base-ui/react/switch",
  "@base-ui/react/tabs",
  "@base-ui/react/toast",
  "@base-ui/react/tooltip",
  "@tanstack/react-query",
  "@xterm/addon-fit",
  "@xterm/xterm",
  "highlight.js/lib/core",
  ...highlighted.map((language) => `highlight.js/lib/languages/${language}`),
  "katex",
  "lucide-react",
  "marked",
  "remend",
  "virtua",
  "wouter",
  "wouter/memory-location",
  "wouter/use-browser-location",
  "zustand",
  "zustand/vanilla",
]

const config: StorybookConfig = {
  framework: "@storybook/react-vite",
  stories: ["../src/**/*.stories.tsx"],
  addons: ["@storybook/addon-vitest", "@storybook/addon-a11y"],
  core: { disableTelemetry: true, disableWhatsNewNotifications: true },
  typescript: { reactDocgen: false },
  viteFinal: (vite) => ({
    ...vite,
    optimizeDeps: { ...vite.optimizeDeps, include: [...(vite.optimizeDeps?.include ?? []), ...prepared] },
  }),
}

export default config
