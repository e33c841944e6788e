import { useQuery } from "@tanstack/react-query"
import { fetched } from "../../api/request"
import { ButtonLink } from "../../ui/buttons/Button"
import { CodeBlock } from "../../ui/code/CodeBlock"
import { Dialog } from "../../ui/floating/Dialog"
import { Spinner } from "../../ui/status/Spinner"
import { bytesText } from "../../ui/values/spans"
import { words } from "../../words"
import css from "./Lightbox.module.css"

export interface LightboxProps {
  source: string
  name: string
  onClose: () => void
}

/** An image as large as there is room for. */
export function ImageLightbox({ source, name, onClose }: LightboxProps) {
  return (
    <Shown source={source} name={name} onClose={onClose}>
      <img src={source} alt={name} className={css["image"]} />
    </Shown>
  )
}

/** Of a longer text only so many bytes are drawn: a browser would stand still over all of it. */
const MOST = 200_000

/** A text file, to be read here: its beginning, if it is long. */
export function TextLightbox({ source, name, onClose }: LightboxProps) {
  const read = useQuery({ queryKey: ["file-text", source], queryFn: () => beginningOf(source), staleTime: Number.POSITIVE_INFINITY })
  return (
    <Shown source={source} name={name} onClose={onClose}>
      {read.isError ? (
        <p role="alert">{words.cards.fileUnreadable}</p>
      ) : read.data === undefined ? (
        <Spinner text={words.common.loading} />
      ) : (
        <>
          {read.data.bytes > MOST && <p role="note">{words.cards.fileCut(bytesText(MOST), bytesText(read.data.bytes))}</p>}
          <CodeBlock code={read.data.text} fileName={name} firstLine={1} isBounded />
        </>
      )}
    </Shown>
  )
}

function Shown({ source, name, onClose, children }: LightboxProps & { children: React.ReactNode }) {
  const download = (
    <ButtonLink href={source} download={name}>
      {words.chat.download}
    </ButtonLink>
  )
  return (
    <Dialog isOpen onClose={onClose} title={name} width="wide" actions={download}>
      {children}
    </Dialog>
  )
}

async function beginningOf(source: string): Promise<{ text: string; bytes: number }> {
  const file = await (await checked(source)).blob()
  // As if more were to come: a character that is cut through at the end is left out.
  const text = new TextDecoder().decode(await file.slice(0, MOST).arrayBuffer(), { stream: file.size > MOST })
  return { text, bytes: file.size }
}

async function checked(source: string): Promise<Response> {
  const response = await fetched(source, { credentials: "same-origin" })
  if (!response.ok) throw new Error(String(response.status))
  return response
}
