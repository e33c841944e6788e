import { expect, userEvent } from "storybook/test"

/** Opens a line with Enter, and goes on with Tab to what it shows. */
export async function openByKeyboard(line: HTMLElement): Promise<void> {
  await expect(line).toHaveAttribute("aria-expanded", "false")
  line.focus()
  await userEvent.keyboard("{Enter}")
  await expect(line).toHaveAttribute("aria-expanded", "true")
}
