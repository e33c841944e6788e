/** With the sentences of places that are loaded when they are asked for; settings say some of what setting up says. */
import { words as first } from "."
import { settings } from "./en/settings"
import { setup } from "./en/setup"

export const words = { ...first, settings, setup }
