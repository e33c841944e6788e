import { CopyButton } from "../../ui/buttons/CopyButton"
import { OutputBox } from "../../ui/code/OutputBox"
import { bytesText } from "../../ui/values/spans"
import { words } from "../../words"
import css from "./card.module.css"
import { withGapsMarked } from "./left_out"
import { type ProcessResult, shortCommand } from "./process_result"

export interface CommandOutputProps {
  command: string
  output: string
  result: ProcessResult
  /** Where it runs, when that was asked for. */
  workdir?: string | undefined
  /** More may come. */
  isGoing: boolean
  /** Nothing was said because nothing is waited for. */
  isOutputShown?: boolean | undefined
}

/** A command in full, what it says, and what is to be known about that. */
export function CommandOutput({ command, output, result, workdir = "", isGoing, isOutputShown = true }: CommandOutputProps) {
  const text = words.cards
  return (
    <>
      {command !== "" && (
        <pre tabIndex={0} role="group" aria-label={text.command} className={css["command"]}>
          <span aria-hidden className={css["prompt"]}>
            ${" "}
          </span>
          <code>{command}</code>
        </pre>
      )}
      {isOutputShown && <OutputBox text={withGapsMarked(output)} label={text.output(shortCommand(command) || text.aCommand)} isRunning={isGoing} />}
      {result.omitted && <p className={css["note"]}>{text.truncated(bytesText(result.omitted.bytes), bytesText(result.omitted.of))}</p>}
      <div className={css["foot"]}>
        {command !== "" && <CopyButton text={command} name={text.copyCommand} size="small" isWordShown />}
        {output !== "" && <CopyButton text={output} name={text.copyOutput} size="small" isWordShown />}
        {workdir !== "" && <span className={css["mono"]}>{text.workdir(workdir)}</span>}
        {result.processId !== "" && <span className={css["mono"]}>{text.process(result.processId)}</span>}
      </div>
    </>
  )
}
