import { type FormEvent, useRef, useState } from "react"
import { request } from "../api/request"
import type { Chat } from "../api/schema"
import { Button } from "../ui/buttons/Button"
import { Dialog } from "../ui/floating/Dialog"
import { Field } from "../ui/inputs/Field"
import { TextInput } from "../ui/inputs/TextInput"
import { words } from "../words"

/** Mounted anew for each chat, so that a title which comes late is never written into another chat's field. */
export function RenameDialog({ chat, onRename, onClose }: { chat: Chat; onRename: (title: string) => Promise<void>; onClose: () => void }) {
  const [title, setTitle] = useState(chat.title)
  const [error, setError] = useState<string | null>(null)
  const [isProposing, setProposing] = useState(false)
  const input = useRef<HTMLInputElement>(null)
  const text = words.sidebar

  async function propose() {
    setProposing(true)
    setError(null)
    try {
      const proposed = await request("POST /api/experimental/chats/{chat}/title/propose", { path: { chat: chat.id } })
      setTitle(proposed.title)
      input.current?.focus()
    } catch (failure) {
      setError((failure as Error).message)
    } finally {
      setProposing(false)
    }
  }

  async function submit(event: FormEvent) {
    event.preventDefault()
    try {
      await onRename(title.trim())
      onClose()
    } catch (failure) {
      setError((failure as Error).message)
    }
  }

  return (
    <Dialog
      isOpen
      onClose={onClose}
      title={text.renameTitle}
      width="narrow"
      focusFirst={input}
      actions={
        <>
          <Button kind="quiet" onClick={() => void propose()} isBusy={isProposing} busyText={text.proposing}>
            {text.propose}
          </Button>
          <Button kind="primary" type="submit" form="rename" disabled={!title.trim()}>
            {words.common.save}
          </Button>
        </>
      }
    >
      <form id="rename" onSubmit={(event) => void submit(event)}>
        <Field label={text.renameLabel} error={error}>
          <TextInput ref={input} value={title} onChange={setTitle} maxLength={200} onFocus={(event) => event.currentTarget.select()} />
        </Field>
      </form>
    </Dialog>
  )
}
