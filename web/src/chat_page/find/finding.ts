/** Whether one looks for something in the chat that is open. Of the page, not of a chat: keys, the palette and the menu open it. */
import { createStore } from "zustand/vanilla"

export const finding = createStore(() => ({
  isOpen: false,
  /** Counts how often it was asked for: again, with the bar open, takes the focus back to it. */
  asked: 0,
}))

export function openFind(): void {
  finding.setState(({ asked }) => ({ isOpen: true, asked: asked + 1 }))
}

export function closeFind(): void {
  finding.setState({ isOpen: false })
}
