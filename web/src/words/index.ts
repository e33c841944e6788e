/** Every sentence that people read. One area, one file; a language is a folder with the same shape. */
import { common } from "./en/common"
import { ui } from "./en/ui"

export const words = { common, ui }
