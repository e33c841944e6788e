import { ImageOff } from "lucide-react"
import { useState } from "react"
import { fetched } from "../../api/request"
import { Button } from "../../ui/buttons/Button"
import { Icon } from "../../ui/Icon"
import { words } from "../../words"
import css from "./files.module.css"

type Trouble = "gone" | "unreadable"

/** An image in a box whose size is known before it has come, so that nothing moves when it does. */
export function Picture({ source, name }: { source: string; name: string }) {
  const [trouble, setTrouble] = useState<Trouble | null>(null)
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
    <a href={source} target="_blank" rel="noreferrer" className={css["frame"]} title={name}>
      <img src={source} alt={name} className={css["image"]} loading="lazy" onError={() => void troubleWith(source).then(setTrouble)} />
    </a>
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
