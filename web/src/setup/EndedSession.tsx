import type { User } from "../api/schema"
import { Dialog } from "../ui/floating/Dialog"
import { Button } from "../ui/buttons/Button"
import { words } from "../words/with_setup"
import { SignInForm } from "./SignInForm"

/** Over the page, so that what was typed is still there afterwards. Someone else begins with a page of their own. */
export function EndedSession({ user, onDone }: { user: User; onDone: () => Promise<void> }) {
  const text = words.setup.signIn
  return (
    <Dialog
      isOpen
      onClose={() => undefined}
      title={text.ended}
      text={text.endedText}
      width="narrow"
      actions={
        <Button kind="quiet" onClick={() => location.assign("/")}>
          {text.other}
        </Button>
      }
    >
      <SignInForm knownLogin={user.username} onDone={onDone} />
    </Dialog>
  )
}
