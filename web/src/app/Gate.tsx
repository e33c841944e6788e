import { useQuery, useQueryClient } from "@tanstack/react-query"
import { lazy, Suspense, useEffect, useState } from "react"
import { queries } from "../api/queries"
import { Refused } from "../api/request"
import type { User } from "../api/schema"
import { Starting } from "./Starting"
import { Shell } from "./Shell"

const SignIn = lazy(() => import("../setup/SignIn").then((module) => ({ default: module.SignIn })))
const EndedSession = lazy(() => import("../setup/EndedSession").then((module) => ({ default: module.EndedSession })))
const Setup = lazy(() => import("../setup/Setup").then((module) => ({ default: module.Setup })))

/** Who comes in: nobody yet (setup), someone who is not signed in, or a user. */
export function Gate() {
  const first = useQuery(queries.firstUser)
  const me = useQuery({ ...queries.me, enabled: first.data?.exists === true })
  const client = useQueryClient()
  const [isSettingUp, setSettingUp] = useState(false)
  const known = useLastUser(me.data)
  const [isSignedOut, setSignedIn] = useIsSignedOut(me.error)
  const signedIn = () => {
    client.removeQueries({ queryKey: queries.me.queryKey })
    setSignedIn()
    void client.invalidateQueries()
  }

  if (first.data && (!first.data.exists || isSettingUp)) {
    return (
      <Suspense fallback={<Starting />}>
        <Setup
          onBegin={() => setSettingUp(true)}
          onDone={() => {
            setSettingUp(false)
            void client.invalidateQueries()
          }}
        />
      </Suspense>
    )
  }
  if (isSignedOut && !known) {
    return (
      <Suspense fallback={<Starting />}>
        <SignIn onDone={signedIn} />
      </Suspense>
    )
  }
  if (!known) return <Starting isUnreachable={first.isError || me.isError} onRetry={() => void client.invalidateQueries()} />
  return (
    <>
      <Shell me={known} />
      <Suspense>{isSignedOut && <EndedSession user={known} onDone={signedIn} />}</Suspense>
    </>
  )
}

/** A session that ends leaves the page as it is, with all that was typed into it, until someone has signed in. */
function useLastUser(me: User | undefined): User | undefined {
  const [known, setKnown] = useState<User | undefined>(me)
  if (me && me !== known) setKnown(me)
  return known
}

/** Any request may be the one that hears of it. */
function useIsSignedOut(error: Error | null): [boolean, () => void] {
  const [isOut, setOut] = useState(false)
  useEffect(() => {
    const out = () => setOut(true)
    window.addEventListener("chatd:signed-out", out)
    return () => window.removeEventListener("chatd:signed-out", out)
  }, [])
  if (!isOut && error instanceof Refused && error.status === 401) setOut(true)
  return [isOut, () => setOut(false)]
}
