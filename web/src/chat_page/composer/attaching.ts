/** Files into a draft: sent to the server as soon as they are there, with how far they are. */
import { newKey } from "../../api/new_key"
import { upload } from "../../api/upload"
import type { Attached, DraftStore } from "../../chat"
import { bytesText } from "../../ui/values/spans"
import { words } from "../../words"

/** The server's limit: `core/file_types.py`. */
export const MOST_BYTES = 10 * 1024 * 1024

const underWay = new Map<string, AbortController>()

export function attach(draft: DraftStore, files: Iterable<File>): void {
  for (const file of files) void send(draft, file)
}

export function detach(draft: DraftStore, key: string): void {
  underWay.get(key)?.abort()
  underWay.delete(key)
  draft.setState(({ files }) => ({ files: files.filter((file) => file.key !== key) }))
}

async function send(draft: DraftStore, file: File): Promise<void> {
  const key = newKey()
  const change = (changed: Partial<Attached>) =>
    draft.setState(({ files }) => ({ files: files.map((one) => (one.key === key ? { ...one, ...changed } : one)) }))
  const isLong = file.size > MOST_BYTES
  const error = isLong ? words.composer.tooLarge(bytesText(file.size), bytesText(MOST_BYTES)) : null
  const added: Attached = { key, name: file.name, mediaType: file.type, bytes: file.size, id: null, progress: isLong ? null : 0, error }
  draft.setState(({ files }) => ({ files: [...files, added] }))
  if (isLong) return
  const controller = new AbortController()
  underWay.set(key, controller)
  try {
    const { id } = await upload(file, (progress) => change({ progress }), controller.signal)
    change({ id, progress: null })
  } catch (failure) {
    if (!controller.signal.aborted) change({ progress: null, error: (failure as Error).message })
  } finally {
    underWay.delete(key)
  }
}
