/** With the sentences of a place that is loaded when it is asked for. */
import { words as first } from "."
import { panel } from "./en/panel"

export const words = { ...first, panel }
