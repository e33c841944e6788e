/** Saves what an address answers as a file. Refused, the page stays where it is and whoever asked hears why. */
import { answered, fetched } from "./request"

export async function saveFile(url: string): Promise<void> {
  const response = await fetched(url, { credentials: "same-origin" })
  if (!response.ok) await answered(response)
  saveAs(await response.blob(), nameIn(response.headers.get("content-disposition") ?? ""))
}

/** Some browsers begin to read it only after a while. */
const READ_MS = 60_000

export function saveAs(content: Blob, name: string): void {
  const link = document.createElement("a")
  link.href = URL.createObjectURL(content)
  link.download = name
  link.click()
  setTimeout(() => URL.revokeObjectURL(link.href), READ_MS)
}

/** RFC 6266: the encoded name is the whole one. */
export function nameIn(disposition: string): string {
  const [, encoded] = /filename\*=UTF-8''([^;]+)/i.exec(disposition) ?? []
  if (encoded !== undefined) return decodeURIComponent(encoded)
  const [, plain = ""] = /filename="?([^";]+)"?/i.exec(disposition) ?? []
  return plain
}
