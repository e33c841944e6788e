/** A file on its way to the server, with how far it is: `fetch` does not tell that. */
import { Refused, Unreachable } from "./request"
import type { Problem, UploadedFile } from "./schema"

export function upload(file: File, onProgress: (part: number) => void, signal: AbortSignal): Promise<UploadedFile> {
  return new Promise((resolve, reject) => {
    const sent = new XMLHttpRequest()
    sent.open("POST", "/api/experimental/chats/files")
    sent.responseType = "json"
    sent.setRequestHeader("content-type", file.type || "application/octet-stream")
    sent.setRequestHeader("content-disposition", `attachment; filename*=UTF-8''${encodeURIComponent(file.name)}`)
    sent.upload.onprogress = (event) => event.lengthComputable && onProgress(event.loaded / event.total)
    sent.onload = () => {
      if (sent.status >= 400) reject(new Refused(sent.status, (sent.response ?? { message: String(sent.status) }) as Problem))
      else resolve(sent.response as UploadedFile)
    }
    sent.onerror = () => reject(new Unreachable("The server did not answer."))
    sent.onabort = () => reject(new DOMException("", "AbortError"))
    signal.addEventListener("abort", () => sent.abort())
    sent.send(file)
  })
}
