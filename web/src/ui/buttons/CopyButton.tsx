import { Check, Copy, type LucideIcon } from "lucide-react"
import { useEffect, useState } from "react"
import { words } from "../../words"
import { toast } from "../floating/toast"
import { Button } from "./Button"
import { IconButton } from "./IconButton"

export interface CopyButtonProps {
  text: string | (() => string)
  /** What is copied, where that isn't plain: "Copy the link". */
  name?: string | undefined
  icon?: LucideIcon | undefined
  size?: "normal" | "small" | undefined
  /** With the word beside the icon. */
  isWordShown?: boolean | undefined
}

/** Copies, and says for two seconds that it has. */
export function CopyButton({ text, name = words.common.copy, icon = Copy, size, isWordShown = false }: CopyButtonProps) {
  const [isCopied, setIsCopied] = useState(false)
  useEffect(() => {
    if (!isCopied) return
    const timer = setTimeout(() => setIsCopied(false), 2000)
    return () => clearTimeout(timer)
  }, [isCopied])
  async function copy(): Promise<void> {
    try {
      await navigator.clipboard.writeText(typeof text === "string" ? text : text())
      setIsCopied(true)
    } catch {
      toast(words.common.failed(words.ui.copying), { kind: "error", text: words.ui.copyYourself, id: "copy" })
    }
  }
  const shared = { icon: isCopied ? Check : icon, size, onClick: () => void copy() }
  if (isWordShown) return <Button {...shared}>{isCopied ? words.common.copied : name}</Button>
  return <IconButton {...shared} name={isCopied ? words.common.copied : name} />
}
