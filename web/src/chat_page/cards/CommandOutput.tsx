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
        <div className={css["copyable"]}>
          <pre tabIndex={0} role="group" aria-label={text.command} className={css["command"]}>
            <span aria-hidden className={css["prompt"]}>
              ${" "}
            </span>
            <code>{command}</code>
          </pre>
          <span className={css["copy"]}>
            <CopyButton text={command} name={text.copyCommand} size="small" />
          </span>
        </div>
      )}
      {isOutputShown && (
        <div className={css["copyable"]}>
          <OutputBox text={withGapsMarked(output)} label={text.output(shortCommand(command) || text.aCommand)} isRunning={isGoing} />
          {output !== "" && (
            <span className={css["copy"]}>
              <CopyButton text={output} name={text.copyOutput} size="small" />
            </span>
          )}
        </div>
      )}
      {result.omitted && <p className={css["note"]}>{text.truncated(bytesText(result.omitted.bytes), bytesText(result.omitted.of))}</p>}
      {(workdir !== "" || result.processId !== "") && (
        <div className={css["foot"]}>
          {workdir !== "" && <span className={css["mono"]}>{text.workdir(workdir)}</span>}
          {result.processId !== "" && <span className={css["mono"]}>{text.process(result.processId)}</span>}
        </div>
      )}
    </>
  )
}
