import { Captions, Plus, X } from "lucide-react"
import { useEffect, useState } from "react"
import { terminalText, useKept } from "../../browser/kept"
import { IconButton } from "../../ui/buttons/IconButton"
import { Segmented } from "../../ui/inputs/Segmented"
import { words } from "../../words"
import { anotherTerminal, keepTerminals, type KnownTerminal, knownTerminals } from "./known_terminals"
import css from "./Terminal.module.css"
import { TerminalView } from "./TerminalView"

/** Terminals in a workspace. One is shown; the others go on in the server, which shows what they said when one comes back. */
export function TerminalTab({ workspaceId }: { workspaceId: string }) {
  const [terminals, setTerminals] = useState<readonly KnownTerminal[]>(() => {
    const known = knownTerminals(workspaceId)
    return known.length > 0 ? known : [anotherTerminal([])]
  })
  const [chosen, setChosen] = useState<string | null>(null)
  const shown = terminals.find((one) => one.key === chosen) ?? terminals[0]
  const [isText, setText] = useKept(terminalText)
  const text = words.panel.terminal

  useEffect(() => keepTerminals(workspaceId, terminals), [workspaceId, terminals])

  function add(): void {
    const another = anotherTerminal(terminals)
    setTerminals([...terminals, another])
    setChosen(another.key)
  }

  /** In the place of the one that was there; the last one that is closed makes room for a new one. */
  function replace(gone: KnownTerminal, isWanted: boolean): void {
    const rest = terminals.filter((one) => one.key !== gone.key)
    if (!isWanted && rest.length > 0) return setTerminals(rest)
    const another = { ...anotherTerminal(rest), number: gone.number }
    setTerminals(terminals.map((one) => (one.key === gone.key ? another : one)))
    setChosen(another.key)
  }

  if (!shown) return null
  return (
    <div className={css["tab"]}>
      <div className={css["bar"]}>
        <div className={css["names"]}>
          {terminals.length > 1 ? (
            <Segmented
              label={text.list}
              segments={terminals.map((one) => ({ value: one.key, label: text.name(one.number) }))}
              value={shown.key}
              onChange={setChosen}
            />
          ) : (
            <span className={css["name"]}>{text.name(shown.number)}</span>
          )}
        </div>
        <IconButton name={text.asText} icon={Captions} size="small" isPressed={isText} onClick={() => setText(!isText)} />
        <IconButton name={text.add} icon={Plus} size="small" onClick={add} />
        {terminals.length > 1 && <IconButton name={text.close(text.name(shown.number))} icon={X} size="small" onClick={() => replace(shown, false)} />}
      </div>
      <TerminalView
        key={shown.key}
        workspaceId={workspaceId}
        terminalKey={shown.key}
        name={text.name(shown.number)}
        onAgain={() => replace(shown, true)}
      />
    </div>
  )
}
