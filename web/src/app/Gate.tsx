import { type QueryClient, useQuery, useQueryClient } from "@tanstack/react-query"
import { lazy, Suspense, useEffect, useRef, useState } from "react"
import { useLocation } from "wouter"
import { queries } from "../api/queries"
import { Refused } from "../api/request"
import type { User } from "../api/schema"
import { onSignedOut, tellSignedIn } from "../api/session"
import { keepFor, signedInAt, signedInUser } from "../browser/kept"
import { leave } from "../browser/leaving"
import { onLed } from "../browser/push"
import { openChat, type OpenedChat } from "../chat"
import { Crash } from "../ui/status/Crash"
import { Starting } from "./Starting"
import { Shell } from "./Shell"

const SignIn = lazy(() => import("../setup/SignIn").then((module) => ({ default: module.SignIn })))
const EndedSession = lazy(() => import("../setup/EndedSession").then((module) => ({ default: module.EndedSession })))
const Setup = lazy(() => import("../setup/Setup").then((module) => ({ default: module.Setup })))

/** Who comes in: nobody yet (setup), someone who is not signed in, or a user. */
export function Gate() {
  const me = useQuery(queries.me)
  const [isSignedOut, setSignedIn] = useIsSignedOut(me.error)
  const first = useQuery({ ...queries.firstUser, enabled: isSignedOut })
  const client = useQueryClient()
  const known = useLastUser(me.data)
  const [path, navigate] = useLocation()
  useReadAhead(client, known !== undefined)
  // Also while nobody is signed in: who signs in then is there.
  useEffect(() => onLed(navigate), [navigate])
  // What was answered to nobody is asked again, and streams come back, for the one who is here now.
  const goOn = async () => {
    const now = await client.fetchQuery({ ...queries.me, staleTime: 0 })
    if (known && known.id !== now.id) return // what waits here is not to be sent in their name: this page goes
    setSignedIn()
    tellSignedIn()
    await client.invalidateQueries()
  }
  const signedIn = async () => {
    await goOn()
    signedInAt.set(Date.now())
  }
  useSignedInElsewhere(isSignedOut, goOn)

  const isSettingUp = known ? known.role === "owner" && isOfSetup(path) : isSignedOut && first.data?.exists === false
  if (isSignedOut && !known && first.data?.exists) {
    return (
      <Suspense fallback={<Starting />}>
        <SignIn onDone={signedIn} />
      </Suspense>
    )
  }
  // The first try that fails says so: those that follow take seconds.
  if (!known && !isSettingUp) return <Starting isUnreachable={isUnanswered(first) || isUnanswered(me)} onRetry={() => void client.invalidateQueries()} />
  return (
    <>
      {isSettingUp ? (
        <Suspense fallback={<Starting />}>
          <Setup me={known} onSignedIn={signedIn} />
        </Suspense>
      ) : (
        known && <Shell me={known} />
      )}
      <Crash>
        <Suspense>{isSignedOut && known && <EndedSession user={known} onDone={signedIn} />}</Suspense>
      </Crash>
    </>
  )
}

function isOfSetup(path: string): boolean {
  return path === "/setup" || path.startsWith("/setup/")
}

function isUnanswered({ failureReason }: { failureReason: Error | null }): boolean {
  return failureReason !== null && !(failureReason instanceof Refused && failureReason.status === 401)
}

/** The chat of the address is asked for while it is found out who asks. Its page takes over what was begun here. */
function useReadAhead(client: QueryClient, isKnown: boolean): void {
  const ahead = useRef<OpenedChat | null>(null)
  useEffect(() => {
    const [, chatId] = /^\/chats\/([^/]+)$/.exec(location.pathname) ?? []
    if (chatId === undefined) return
    ahead.current = openChat(chatId)
    void client.prefetchQuery(queries.chat(chatId))
    return () => ahead.current?.close()
  }, [client])
  // The page is inside of this: it has opened the chat for itself by now.
  useEffect(() => {
    if (isKnown) ahead.current?.close()
  }, [isKnown])
}

/**
 * A session that ends leaves the page as it is, with all that was typed into it, until the same person has signed in. Someone
 * else, here or in another tab (they share the session), begins with a page of their own.
 */
function useLastUser(me: User | undefined): User | undefined {
  const [known, setKnown] = useState<User | undefined>(undefined)
  const isSame = !known || !me || known.id === me.id
  if (me && isSame && me !== known) {
    keepFor(me.id)
    setKnown(me)
  }
  const id = known?.id
  useEffect(() => {
    if (id === undefined) return
    signedInUser.set(id)
    return signedInUser.subscribe(() => {
      const now = signedInUser.get()
      if (now === "") leave() // someone is about to sign in: it may be the same person, who wants to be where they were
      else if (now !== id) leave("/")
    })
  }, [id])
  useEffect(() => {
    if (!isSame) leave("/")
  }, [isSame])
  useEffect(() => {
    window.addEventListener("pageshow", beginAnewWhenBack)
    return () => window.removeEventListener("pageshow", beginAnewWhenBack)
  }, [])
  return known
}

/** Who goes back gets the page as it was left, from the browser's memory: it may be another person's, and has heard nothing since. */
function beginAnewWhenBack({ persisted }: PageTransitionEvent): void {
  if (!persisted) return
  document.documentElement.hidden = true
  leave()
}

/** Tabs share the session: who has signed in in one goes on in all of them. */
function useSignedInElsewhere(isSignedOut: boolean, goOn: () => Promise<void>): void {
  const latest = useRef(goOn)
  latest.current = goOn
  useEffect(() => {
    if (!isSignedOut) return
    return signedInAt.subscribe(() => void latest.current().catch(() => undefined)) // then they sign in here too
  }, [isSignedOut])
}

/** Any request may be the one that hears of it. */
function useIsSignedOut(error: Error | null): [boolean, () => void] {
  const [isOut, setOut] = useState(false)
  useEffect(() => onSignedOut(() => setOut(true)), [])
  if (!isOut && error instanceof Refused && error.status === 401) setOut(true)
  return [isOut, () => setOut(false)]
}
