export const queue = {
  title: "Waiting",
  sendNow: "Send now",
  edit: "Edit",
  remove: "Remove",
  moveUp: "Move up",
  moveDown: "Move down",
  held: "Being edited",
  save: "Save",
  sending: "Sending",
  gone: "The message was sent before you saved it",
  goneText: "What you wrote is in the composer.",
  failed: "The queue could not be changed",
}
