import { Menu } from "@base-ui/react/menu"
import { Check, ChevronRight } from "lucide-react"
import { classes } from "../classes"
import { Icon } from "../Icon"
import { Kbd } from "../values/Kbd"
import { asAriaShortcut } from "../values/shortcut"
import type { MenuAction, MenuChoice, MenuEntry, SubMenu } from "./menu_items"
import css from "./popup.module.css"

export function MenuEntries({ entries }: { entries: readonly MenuEntry[] }) {
  return runs(entries).map((run, place) =>
    "among" in run ? <OneOf key={place} choices={run.among} /> : <Entry key={place} entry={run.entry} />,
  )
}

type Run = { entry: MenuEntry } | { among: MenuChoice[] }

/** Choices that exclude each other and stand together are one group. */
function runs(entries: readonly MenuEntry[]): Run[] {
  const found: Run[] = []
  for (const entry of entries) {
    const isOneOf = typeof entry === "object" && "isChecked" in entry && entry.isOneOf
    const last = found.at(-1)
    if (!isOneOf) found.push({ entry })
    else if (last && "among" in last) last.among.push(entry)
    else found.push({ among: [entry] })
  }
  return found
}

function Entry({ entry }: { entry: MenuEntry }) {
  if (entry === "line") return <Menu.Separator className={css["separator"]} />
  if ("heading" in entry) return <div className={css["heading"]}>{entry.heading}</div>
  if ("entries" in entry) return <Sub entry={entry} />
  if ("isChecked" in entry) return <ChoiceItem entry={entry} />
  return <ActionItem entry={entry} />
}

function ActionItem({ entry }: { entry: MenuAction }) {
  return (
    <Menu.Item
      disabled={entry.isDisabled ?? false}
      onClick={entry.run}
      className={classes(css["item"], entry.isDanger && css["danger"])}
      aria-keyshortcuts={entry.shortcut === undefined ? undefined : asAriaShortcut(entry.shortcut)}
    >
      {entry.icon && (
        <span className={css["start"]}>
          <Icon of={entry.icon} />
        </span>
      )}
      <Words entry={entry} />
      {entry.shortcut !== undefined && (
        <span className={css["end"]} aria-hidden>
          <Kbd keys={entry.shortcut} />
        </span>
      )}
    </Menu.Item>
  )
}

function ChoiceItem({ entry }: { entry: MenuChoice }) {
  return (
    <Menu.CheckboxItem checked={entry.isChecked} onCheckedChange={entry.choose} disabled={entry.isDisabled ?? false} className={css["item"]}>
      <Tick entry={entry} />
      <Words entry={entry} />
    </Menu.CheckboxItem>
  )
}

function OneOf({ choices }: { choices: MenuChoice[] }) {
  const chosen = choices.findIndex((choice) => choice.isChecked)
  return (
    <Menu.RadioGroup value={chosen} onValueChange={(next: number) => choices[next]?.choose(true)}>
      {choices.map((choice, place) => (
        <Menu.RadioItem key={place} value={place} disabled={choice.isDisabled ?? false} closeOnClick className={css["item"]}>
          <Tick entry={choice} />
          <Words entry={choice} />
        </Menu.RadioItem>
      ))}
    </Menu.RadioGroup>
  )
}

function Tick({ entry }: { entry: MenuChoice }) {
  return <span className={css["start"]}>{entry.isChecked ? <Icon of={Check} /> : entry.icon && <Icon of={entry.icon} />}</span>
}

function Sub({ entry }: { entry: SubMenu }) {
  return (
    <Menu.SubmenuRoot>
      <Menu.SubmenuTrigger className={css["item"]} disabled={entry.isDisabled ?? false}>
        {entry.icon && (
          <span className={css["start"]}>
            <Icon of={entry.icon} />
          </span>
        )}
        <Words entry={entry} />
        <Icon of={ChevronRight} size={12} className={css["end"]} />
      </Menu.SubmenuTrigger>
      <Menu.Portal>
        <Menu.Positioner className={css["positioner"]} collisionPadding={8} alignOffset={-4}>
          <Menu.Popup className={css["popup"]}>
            <MenuEntries entries={entry.entries} />
          </Menu.Popup>
        </Menu.Positioner>
      </Menu.Portal>
    </Menu.SubmenuRoot>
  )
}

function Words({ entry }: { entry: MenuAction | MenuChoice | SubMenu }) {
  return (
    <span className={css["label"]}>
      <span>{entry.label}</span>
      {entry.hint !== undefined && <span className={css["hint"]}>{entry.hint}</span>}
    </span>
  )
}
