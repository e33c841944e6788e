/** Files into a draft: sent to the server as soon as they are there, with how far they are. */
import { newKey } from "../../api/new_key"
import { address, fetched } from "../../api/request"
import { upload } from "../../api/upload"
import { type Attached, changeFile, type DraftStore, writeText } from "../../chat"
import { toast } from "../../ui/floating/toast"
import { bytesText } from "../../ui/values/spans"
import { words } from "../../words"

/** The server's limit: `core/file_types.py`. */
export const MOST_BYTES = 10 * 1024 * 1024

const underWay = new Map<string, AbortController>()
/** What may have to be sent again: the files themselves, until they have arrived. */
const sources = new Map<string, File>()

export function attach(draft: DraftStore, files: Iterable<File>): void {
  for (const file of files) add(draft, file)
}

export function attachPasted(draft: DraftStore, text: string): void {
  add(draft, new File([text], words.composer.pasted, { type: "text/plain" }), { isPasted: true })
}

export function detach(draft: DraftStore, key: string): void {
  underWay.get(key)?.abort()
  underWay.delete(key)
  sources.delete(key)
  changeFile(draft, key, null)
}

/** Whether another try may help: not for one that is too large, nor for one that is gone with its page. */
export function canTryAgain({ key, error, bytes }: Attached): boolean {
  return error !== null && bytes <= MOST_BYTES && sources.has(key)
}

export function tryAgain(draft: DraftStore, key: string): void {
  const file = sources.get(key)
  if (file) void send(draft, key, file)
}

/** Not one whose page was left before it had arrived: its text is nowhere any more. */
export function canPasteInline({ key, id, isPasted }: Attached): boolean {
  return isPasted === true && (id !== null || sources.has(key))
}

/** A paste that was made a file becomes part of the text after all. */
export async function pasteInline(draft: DraftStore, { key, id }: Attached): Promise<void> {
  try {
    const text = await (sources.get(key)?.text() ?? readBack(id ?? ""))
    if (!draft.getState().files.some((file) => file.key === key)) return // it was sent meanwhile, or taken away
    detach(draft, key)
    writeText(draft, draft.getState().text + text)
  } catch (failure) {
    toast(words.common.failed(words.composer.inline), { text: (failure as Error).message, kind: "error", id: "inline" })
  }
}

/** Once it has arrived, only the server has it. */
async function readBack(id: string): Promise<string> {
  const response = await fetched(address("/api/experimental/chats/files/{file}", { file: id }), { credentials: "same-origin" })
  if (!response.ok) throw new Error(words.cards.fileUnreadable)
  return response.text()
}

function add(draft: DraftStore, file: File, more: Partial<Attached> = {}): void {
  const key = newKey()
  const isLong = file.size > MOST_BYTES
  const error = isLong ? words.composer.tooLarge(bytesText(file.size), bytesText(MOST_BYTES)) : null
  const added: Attached = { key, name: file.name, mediaType: file.type, bytes: file.size, id: null, progress: null, error, ...more }
  draft.setState(({ files }) => ({ files: [...files, added] }))
  if (isLong) return
  sources.set(key, file)
  void send(draft, key, file)
}

async function send(draft: DraftStore, key: string, file: File): Promise<void> {
  const controller = new AbortController()
  underWay.set(key, controller)
  changeFile(draft, key, { progress: 0, error: null })
  try {
    const { id } = await upload(file, (progress) => changeFile(draft, key, { progress }), controller.signal)
    sources.delete(key)
    changeFile(draft, key, { id, progress: null })
  } catch (failure) {
    if (!controller.signal.aborted) changeFile(draft, key, { progress: null, error: (failure as Error).message })
  } finally {
    underWay.delete(key)
  }
}
