/** Whether this browser is told when a turn ends, and changing that. */
import { useCallback, useEffect, useState } from "react"
import { queries } from "../../api/queries"
import { request } from "../../api/request"
import { knownAddress, NoWorker, type PushState, pushState, subscribe, unsubscribe } from "../../browser/push"
import { useQueryClient } from "@tanstack/react-query"
import { words } from "../../words/with_settings"

export interface Push {
  /** null until it is known. */
  state: PushState | null
  /** Why the last change did not work. */
  error: Error | null
  isBusy: boolean
  set(isOn: boolean): void
}

const me = { user: "me" }

export function usePush(): Push {
  const client = useQueryClient()
  const [state, setState] = useState<PushState | null>(null)
  const [error, setError] = useState<Error | null>(null)
  const [isBusy, setBusy] = useState(false)

  useEffect(() => void pushState().then(setState), [])

  const change = useCallback(
    async (isOn: boolean) => {
      setBusy(true)
      setError(null)
      try {
        if (isOn) await turnOn((await client.fetchQuery(queries.buildInfo)).webpush_public_key)
        else await turnOff()
      } catch (failure) {
        setError(said(failure))
      } finally {
        setState(await pushState())
        setBusy(false)
      }
    },
    [client],
  )
  return { state, error, isBusy, set: (isOn) => void change(isOn) }
}

function said(failure: unknown): Error {
  if (failure instanceof NoWorker) return new Error(words.settings.notifications.noWorker)
  return failure instanceof Error ? failure : new Error(String(failure))
}

/** A browser that the server does not know of is told nothing: then it is off. */
async function turnOn(publicKey: string): Promise<void> {
  const body = await subscribe(publicKey)
  if (!body) return
  try {
    await request("POST /api/v2/users/{user}/webpush/subscription", { path: me, body })
  } catch (error) {
    await unsubscribe()
    throw error
  }
}

/** The server first: what it does not know of any more can't be sent. */
async function turnOff(): Promise<void> {
  const known = await knownAddress()
  if (known) await request("DELETE /api/v2/users/{user}/webpush/subscription", { path: me, body: { endpoint: known.endpoint } })
  await unsubscribe()
}
