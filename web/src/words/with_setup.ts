/** With the sentences of a place that is loaded when it is asked for. */
import { words as first } from "."
import { setup } from "./en/setup"

export const words = { ...first, setup }
