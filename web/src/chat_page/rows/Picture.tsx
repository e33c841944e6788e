import { ImageOff } from "lucide-react"
import { lazy, Suspense, useState } from "react"
import { fetched } from "../../api/request"
import { Button } from "../../ui/buttons/Button"
import { Icon } from "../../ui/Icon"
import { words } from "../../words"
import css from "./files.module.css"

const ImageLightbox = lazy(() => import("./Lightbox").then((module) => ({ default: module.ImageLightbox })))

type Trouble = "gone" | "unreadable"

/** An image in a box whose size is known before it has come, so that nothing moves when it does. */
export function Picture({ source, name }: { source: string; name: string }) {
  const [trouble, setTrouble] = useState<Trouble | null>(null)
  const [isOpen, setOpen] = useState(false)
  if (trouble !== null) {
    return (
      <div className={css["missing"]} role="note">
        <Icon of={ImageOff} />
        <span className={css["name"]}>{name}</span>
        <span>{trouble === "gone" ? words.cards.fileGone : words.cards.fileUnreadable}</span>
        {trouble === "unreadable" && (
          <Button size="small" onClick={() => setTrouble(null)}>
            {words.common.tryAgain}
          </Button>
        )}
      </div>
    )
  }
  return (
    <>
      <button type="button" className={css["frame"]} title={name} onClick={() => setOpen(true)}>
        <img src={source} alt={name} className={css["image"]} loading="lazy" onError={() => void troubleWith(source).then(setTrouble)} />
      </button>
      {isOpen && (
        <Suspense>
          <ImageLightbox source={source} name={name} onClose={() => setOpen(false)} />
        </Suspense>
      )}
    </>
  )
}

/** An image says only that it failed; the server says why. */
async function troubleWith(source: string): Promise<Trouble> {
  if (!source.startsWith("/")) return "unreadable"
  try {
    const { status } = await fetched(source, { credentials: "same-origin" })
    return status === 404 || status === 410 ? "gone" : "unreadable"
  } catch {
    return "unreadable"
  }
}
