import { useState } from "react"
import { serverNow } from "../../api/server_clock"
import { Button } from "../../ui/buttons/Button"
import { OutputBox } from "../../ui/code/OutputBox"
import { SkeletonLines } from "../../ui/status/Skeleton"
import { words } from "../../words"
import { isGoing, logText, type OfBuild, useBuildLog } from "./build_log"
import css from "./card.module.css"
import { useLate } from "./use_late"

/** The log of a build that is over, or of one that nobody waits for any more. */
export function StoredLog({ of }: { of: OfBuild }) {
  const { data, isError, refetch } = useBuildLog(of)
  const text = words.cards
  if (isError && !data) {
    return (
      <div className={css["foot"]} role="alert">
        {text.logFailed}
        <Button size="small" onClick={() => void refetch()}>
          {words.common.tryAgain}
        </Button>
      </div>
    )
  }
  if (!data) return <SkeletonLines />
  const isOn = isGoing(data.status)
  if (data.lines.length === 0) return <p className={css["note"]}>{isOn ? text.buildSilent : text.buildEmpty}</p>
  return (
    <>
      <OutputBox text={logText(data.lines)} label={text.buildLog} isRunning={isOn} />
      {isOn && <p className={css["note"]}>{text.buildGoesOn}</p>}
    </>
  )
}

const SLOW = 30_000

/** The last lines of a build, as they come. */
export function LiveLog({ output, since }: { output: string | null; since: string | null }) {
  const [waited] = useState(() => (since === null ? 0 : Math.max(0, serverNow() - Date.parse(since))))
  const isSlow = useLate(output === null, Math.max(0, SLOW - waited))
  if (output === null) return <p className={css["note"]}>{isSlow ? words.cards.buildSlow : words.cards.buildSilent}</p>
  return <OutputBox text={output} label={words.cards.buildLog} isRunning />
}
