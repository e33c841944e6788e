export const keys = [
  { keys: "Enter", name: "Send, or queue while the agent works" },
  { keys: "Shift+Enter", name: "New line" },
  { keys: "Escape", name: "Stop the agent, or leave an edit" },
  { keys: "ArrowUp", name: "Earlier messages of yours, in an empty composer" },
  { keys: "/", name: "Commands and skills, in an empty composer" },
  { keys: "Alt+ArrowUp", name: "To what you wrote before" },
  { keys: "Alt+ArrowDown", name: "To what you wrote after" },
  { keys: "Mod+J", name: "Show or hide the panel" },
]
