/** Saves what an address answers as a file. Refused, the page stays where it is and whoever asked hears why. */
import { answered, fetched } from "./request"

/** Browsers begin to read it a while after the click. */
const readMs = 60_000

export async function saveFile(url: string): Promise<void> {
  const response = await fetched(url, { credentials: "same-origin" })
  if (!response.ok) await answered(response)
  const address = URL.createObjectURL(await response.blob())
  const link = document.createElement("a")
  link.href = address
  link.download = nameIn(response.headers.get("content-disposition") ?? "")
  link.click()
  setTimeout(() => URL.revokeObjectURL(address), readMs)
}

/** RFC 6266: the encoded name is the whole one. */
export function nameIn(disposition: string): string {
  const [, encoded] = /filename\*=UTF-8''([^;]+)/i.exec(disposition) ?? []
  if (encoded !== undefined) return decodeURIComponent(encoded)
  const [, plain = ""] = /filename="?([^";]+)"?/i.exec(disposition) ?? []
  return plain
}
