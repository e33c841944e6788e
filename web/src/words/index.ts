/** Every sentence that people read. One area, one file; a language is a folder with the same shape. */
import { common } from "./en/common"
import { keys } from "./en/keys"
import { setup } from "./en/setup"
import { shell } from "./en/shell"
import { sidebar } from "./en/sidebar"
import { ui } from "./en/ui"

export const words = { common, keys, setup, shell, sidebar, ui }
