import { useQuery, useQueryClient } from "@tanstack/react-query"
import { lazy, Suspense, useEffect, useState } from "react"
import { queries } from "../api/queries"
import { Refused } from "../api/request"
import type { User } from "../api/schema"
import { SignIn } from "../setup/SignIn"
import { EndedSession } from "../setup/EndedSession"
import { Starting } from "./Starting"
import { Shell } from "./Shell"

const Setup = lazy(() => import("../setup/Setup").then((module) => ({ default: module.Setup })))

/** Who comes in: nobody yet (setup), someone who is not signed in, or a user. */
export function Gate() {
  const first = useQuery(queries.firstUser)
  const me = useQuery({ ...queries.me, enabled: first.data?.exists === true })
  const client = useQueryClient()
  const [isSettingUp, setSettingUp] = useState(false)
  const known = useLastUser(me.data)

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
  const isSignedOut = me.error instanceof Refused && me.error.status === 401
  if (isSignedOut && !known) return <SignIn onDone={() => void client.invalidateQueries()} />
  if (!known) return <Starting isUnreachable={first.isError || me.isError} onRetry={() => void client.invalidateQueries()} />
  return (
    <>
      <Shell me={known} />
      {isSignedOut && <EndedSession user={known} onDone={() => void client.invalidateQueries()} />}
    </>
  )
}

/** A session that ends leaves the page as it is, with all that was typed into it, until someone else signs in. */
function useLastUser(me: User | undefined): User | undefined {
  const client = useQueryClient()
  const [known, setKnown] = useState<User | undefined>(me)
  if (me && me !== known) setKnown(me)
  useEffect(() => {
    const ask = () => void client.invalidateQueries({ queryKey: queries.me.queryKey })
    window.addEventListener("chatd:signed-out", ask)
    return () => window.removeEventListener("chatd:signed-out", ask)
  }, [client])
  return known
}
