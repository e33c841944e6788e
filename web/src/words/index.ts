/** Every sentence that people read. One area, one file; a language is a folder with the same shape. */
import { cards } from "./en/cards"
import { chat } from "./en/chat"
import { common } from "./en/common"
import { composer } from "./en/composer"
import { header } from "./en/header"
import { keys } from "./en/keys"
import { panel } from "./en/panel"
import { queue } from "./en/queue"
import { shell } from "./en/shell"
import { sidebar } from "./en/sidebar"
import { ui } from "./en/ui"

export const words = { cards, chat, common, composer, header, keys, panel, queue, shell, sidebar, ui }
