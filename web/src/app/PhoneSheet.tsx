/** A chunk of its own: only a narrow window needs it. */
export { Sheet as PhoneSheet } from "../ui/floating/Dialog"
