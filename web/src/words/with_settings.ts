/** With the sentences of a place that is loaded when it is asked for. */
import { words as first } from "."
import { settings } from "./en/settings"

export const words = { ...first, settings }
