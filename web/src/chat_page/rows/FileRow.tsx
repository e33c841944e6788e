import { FileText, FileX } from "lucide-react"
import { lazy, type MouseEvent, Suspense, useState } from "react"
import type { FilePart } from "../../api/events"
import { address, fetched } from "../../api/request"
import { saveAs } from "../../api/save_file"
import { toast } from "../../ui/floating/toast"
import { Icon } from "../../ui/Icon"
import { words } from "../../words"
import css from "./files.module.css"
import { Picture } from "./Picture"

const TextLightbox = lazy(() => import("./Lightbox").then((module) => ({ default: module.TextLightbox })))

/** An image is shown, text opens here, anything else is a link to it. */
export function FileRow({ file }: { file: FilePart }) {
  const name = file.name || words.chat.file
  const source = file.file_id ? address("/api/experimental/chats/files/{file}", { file: file.file_id }) : `data:${file.media_type};base64,${file.data ?? ""}`
  return file.media_type.startsWith("image/") ? <Picture source={source} name={name} /> : <FileLink source={source} name={name} isText={isText(file.media_type)} />
}

/** Looks before it loads: a file that is gone says so here, and not as a download that has failed. */
function FileLink({ source, name, isText }: { source: string; name: string; isText: boolean }) {
  const [isGone, setGone] = useState(false)
  const [isOpen, setOpen] = useState(false)

  async function open(event: MouseEvent): Promise<void> {
    if (!source.startsWith("/") || event.metaKey || event.ctrlKey || event.shiftKey) return
    event.preventDefault()
    try {
      const response = await fetched(source, { credentials: "same-origin" })
      if (response.status === 404 || response.status === 410) setGone(true)
      else if (response.ok && isText) setOpen(true)
      else if (response.ok) saveAs(await response.blob(), name)
      else toast(words.common.failed(words.chat.download), { kind: "error" })
    } catch {
      toast(words.common.failed(words.chat.download), { kind: "error", text: words.cards.fileUnreadable })
    }
  }

  if (isGone) {
    return (
      <span className={css["chip"]} role="note">
        <Icon of={FileX} />
        <span className={css["name"]}>{name}</span>
        <span className={css["aside"]}>{words.cards.fileGone}</span>
      </span>
    )
  }
  return (
    <>
      <a href={source} download={name} className={css["chip"]} onClick={(event) => void open(event)}>
        <Icon of={FileText} />
        <span className={css["name"]}>{name}</span>
      </a>
      {isOpen && (
        <Suspense>
          <TextLightbox source={source} name={name} onClose={() => setOpen(false)} />
        </Suspense>
      )}
    </>
  )
}

function isText(mediaType: string): boolean {
  return mediaType.startsWith("text/") || mediaType === "application/json"
}
