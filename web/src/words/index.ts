/** Every sentence that people read. One area, one file; a language is a folder with the same shape. */
import { common } from "./en/common"
import { setup } from "./en/setup"
import { shell } from "./en/shell"
import { sidebar } from "./en/sidebar"
import { ui } from "./en/ui"

export const words = { common, setup, shell, sidebar, ui }
