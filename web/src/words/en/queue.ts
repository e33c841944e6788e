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
  failed: "The queue could not be changed",
}
