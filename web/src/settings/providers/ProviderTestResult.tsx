import { type ReactNode, useState } from "react"
import { Refused } from "../../api/request"
import type { ProviderTest } from "../../api/schema"
import { Banner } from "../../ui/status/Banner"
import { durationText } from "../../ui/values/spans"
import { words } from "../../words/with_settings"
import { FieldName } from "../form/FieldName"

export interface Trial {
  answer: ProviderTest | Error | null
  isRunning: boolean
  run(): void
}

/** One short call to the vendor, with what is in the form. */
export function useTrial(ask: () => Promise<ProviderTest>): Trial {
  const [answer, setAnswer] = useState<ProviderTest | Error | null>(null)
  const [isRunning, setRunning] = useState(false)
  async function run() {
    setRunning(true)
    setAnswer(null)
    try {
      setAnswer(await ask())
    } catch (failure) {
      setAnswer(failure instanceof Error ? failure : new Error(String(failure)))
    } finally {
      setRunning(false)
    }
  }
  return { answer, isRunning, run: () => void run() }
}

export function ProviderTestResult({ answer }: { answer: Trial["answer"] }) {
  const text = words.settings.providers
  if (!answer) return null
  if (answer instanceof Error) return <Banner kind="error" title={text.testFailed} text={whyNotAsked(answer)} />
  if (!answer.ok) return <Banner kind="error" title={text.testFailed} text={[answer.message, answer.detail].filter(Boolean).join(" ")} />
  const time = typeof answer.first_event_ms === "number" ? durationText(answer.first_event_ms) : null
  return <Banner title={text.testWorked(answer.model)} text={time ? text.testTime(time) : answer.message} />
}

/** What is wrong with what was to be tried, in the words of the page. */
function whyNotAsked(error: Error): ReactNode {
  const wrong = error instanceof Refused ? (error.problem.validations ?? []) : []
  if (wrong.length === 0) return error.message
  return wrong.map((one) => (
    <span key={one.field}>
      <FieldName of={one.field} />: {one.detail}.{" "}
    </span>
  ))
}
