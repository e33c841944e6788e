/** Pinned chats are put in order by dragging; by keyboard it is Alt and an arrow. */
import { type DragEvent, useState } from "react"
import type { Chat } from "../api/schema"

export interface PinDrag {
  /** Where the one that is dragged would come: before this one, or after it. */
  mark: { id: string; isAfter: boolean } | null
  of(chat: Chat): Pick<React.HTMLAttributes<HTMLLIElement>, "draggable" | "onDragStart" | "onDragOver" | "onDrop" | "onDragEnd">
}

export function usePinDrag(pin: (chat: Chat, place: number) => void): PinDrag {
  const [dragged, setDragged] = useState<Chat | null>(null)
  const [mark, setMark] = useState<PinDrag["mark"]>(null)
  const end = () => {
    setDragged(null)
    setMark(null)
  }
  return {
    mark,
    of: (chat) => ({
      draggable: true,
      onDragStart: (event) => {
        event.dataTransfer.effectAllowed = "move"
        setDragged(chat)
      },
      onDragOver: (event) => {
        if (!dragged || dragged.id === chat.id) return
        event.preventDefault()
        const isAfter = isLowerHalf(event)
        if (mark?.id !== chat.id || mark.isAfter !== isAfter) setMark({ id: chat.id, isAfter })
      },
      onDrop: (event) => {
        event.preventDefault()
        if (dragged && dragged.id !== chat.id) pin(dragged, placeOf(dragged, chat, isLowerHalf(event)))
        end()
      },
      onDragEnd: end,
    }),
  }
}

function isLowerHalf(event: DragEvent<HTMLElement>): boolean {
  const { top, height } = event.currentTarget.getBoundingClientRect()
  return event.clientY > top + height / 2
}

/** Places are counted without the one that moves. */
function placeOf(dragged: Chat, over: Chat, isAfter: boolean): number {
  const before = over.pin_order - (dragged.pin_order < over.pin_order ? 1 : 0)
  return isAfter ? before + 1 : before
}
