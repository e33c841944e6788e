import { Link } from "lucide-react"
import { CopyButton } from "../../ui/buttons/CopyButton"
import { words } from "../../words"

/** The address of a message: whoever may see the chat comes to it. */
export function CopyLink({ chatId, messageId }: { chatId: string; messageId: number }) {
  return <CopyButton text={() => `${location.origin}/chats/${chatId}#m${messageId}`} name={words.chat.copyLink} icon={Link} size="small" />
}
