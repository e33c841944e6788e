import type { OpenedChat } from "../../chat"
import { Disclosure, type DisclosureProps } from "../../ui/layout/Disclosure"
import { useOpenLine } from "./use_open_line"

export interface FoldedLineProps extends Omit<DisclosureProps, "isOpen" | "isOpenAtFirst" | "onOpenChange"> {
  opened: OpenedChat
  /** Lasts, and is its own within the chat. */
  lineKey: string
}

/** A line of a timeline that opens, and stays as its reader has left it. */
export function FoldedLine({ opened, lineKey, ...line }: FoldedLineProps) {
  const [isOpen, setOpen] = useOpenLine(opened, lineKey)
  return <Disclosure {...line} isOpen={isOpen ?? false} onOpenChange={setOpen} />
}
