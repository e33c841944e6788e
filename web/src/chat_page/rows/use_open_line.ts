import { useState } from "react"
import type { OpenedChat } from "../../chat"

/** Lines that a reader has opened or closed. Rows that are scrolled out of sight are not kept; this is, so that nothing has folded when they are back. */
const remembered = new Map<string, boolean>()

/** null: nobody has touched it. */
export function useOpenLine({ chatId }: OpenedChat, key: string): [boolean | null, (isOpen: boolean) => void] {
  const name = `${chatId}/${key}`
  const [isOpen, setOpen] = useState(() => remembered.get(name) ?? null)
  return [
    isOpen,
    (next) => {
      remembered.set(name, next)
      setOpen(next)
    },
  ]
}
