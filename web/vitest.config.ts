import { storybookTest } from "@storybook/addon-vitest/vitest-plugin"
import react from "@vitejs/plugin-react"
import { playwright } from "@vitest/browser-playwright"
import { defineConfig } from "vitest/config"

const chromium = process.env["CHATD_CHROMIUM"] ?? "/usr/bin/chromium"

export default defineConfig({
  test: {
    projects: [
      {
        test: { name: "pure", environment: "node", include: ["src/**/*.test.ts", "test/**/*.test.ts"] },
      },
      {
        plugins: [react(), storybookTest({ configDir: ".storybook" })],
        test: {
          name: "stories",
          retry: process.env["CI"] ? 1 : 0, // a page that a busy machine did not load in time
          browser: {
            enabled: true,
            headless: true,
            screenshotFailures: false,
            instances: [{ browser: "chromium" }],
            provider: playwright({ launchOptions: { executablePath: chromium, args: ["--no-sandbox"] } }),
          },
        },
      },
    ],
  },
})
