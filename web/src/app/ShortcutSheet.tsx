import { Dialog } from "../ui/floating/Dialog"
import { Kbd } from "../ui/values/Kbd"
import { words } from "../words"
import css from "./ShortcutSheet.module.css"
import type { Shortcut } from "./shortcuts"

/** Keys of places that listen for themselves. */
const elsewhere: { keys: string; name: string }[] = words.keys

export function ShortcutSheet({ shortcuts, onClose }: { shortcuts: readonly Shortcut[]; onClose: () => void }) {
  return (
    <Dialog isOpen onClose={onClose} title={words.shell.shortcuts} width="narrow">
      <dl className={css["keys"]}>
        {[...shortcuts, ...elsewhere].map(({ keys, name }) => (
          <div key={keys + name}>
            <dt>{name}</dt>
            <dd>
              <Kbd keys={keys} />
            </dd>
          </div>
        ))}
      </dl>
    </Dialog>
  )
}
