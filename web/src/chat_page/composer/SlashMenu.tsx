import { classes } from "../../ui/classes"
import { words } from "../../words"
import css from "./ComposerBox.module.css"

export interface Command {
  name: string
  text: string
  isDisabled?: boolean | undefined
  /** Goes with the message, whose first word it is; the model knows what to do with it. */
  isSkill?: boolean | undefined
}

/** Those whose name begins as what was typed; none unless a slash is the first sign. */
export function matching(text: string, commands: readonly Command[]): readonly Command[] {
  const typed = /^\/(\S*)$/.exec(text)?.[1]
  return typed === undefined ? [] : commands.filter((command) => command.name.startsWith(typed.toLowerCase()))
}

export interface SlashMenuProps {
  /** Of the list; its options have it with their place behind it. */
  id: string
  commands: readonly Command[]
  place: number
  onRun: (command: Command) => void
}

export function optionId(id: string, place: number): string {
  return `${id}-${place}`
}

/** The keys stay in the composer: this only shows what they would do. */
export function SlashMenu({ id, commands, place, onRun }: SlashMenuProps) {
  if (commands.length === 0) return null
  return (
    <ul id={id} className={css["slash"]} role="listbox" aria-label={words.composer.commands}>
      {commands.map((command, at) => (
        <li
          key={command.name}
          id={optionId(id, at)}
          role="option"
          aria-selected={at === place % commands.length}
          aria-disabled={command.isDisabled || undefined}
          className={classes(css["command"], at === place % commands.length && css["chosen"])}
          onMouseDown={(event) => {
            event.preventDefault()
            onRun(command)
          }}
        >
          <code>/{command.name}</code> <span className={css["muted"]}>{command.text}</span>
        </li>
      ))}
    </ul>
  )
}
