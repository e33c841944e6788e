/**
 * Whether this browser is told when a turn ends. The server hears of it again at every visit: it forgets with the session.
 * The browser has one address for all who use it: it is only theirs who have asked for it.
 */
import { keptPerson, pushFor } from "./kept"

export type PushState = "unsupported" | "denied" | "off" | "on"

interface Address {
  endpoint: string
  auth_key: string
  p256dh_key: string
}

/** The browser did not take the worker, which would show what the server sends. */
export class NoWorker extends Error {
  override name = "NoWorker"
}

export async function registerWorker(): Promise<void> {
  if (!("serviceWorker" in navigator)) return
  await workerTaken().catch(() => undefined) // the page works without it
}

/** `serviceWorker.ready` would wait for ever for one that was refused or could not be installed. */
async function workerTaken(): Promise<ServiceWorkerRegistration> {
  const taken = await navigator.serviceWorker.register("/worker.js").catch((cause: unknown) => {
    throw new NoWorker("refused", { cause })
  })
  if (taken.active) return taken
  const coming = taken.installing ?? taken.waiting
  if (!coming) throw new NoWorker("not installed")
  await new Promise<void>((resolve, reject) => {
    coming.addEventListener("statechange", () => {
      if (coming.state === "activated") resolve()
      if (coming.state === "redundant") reject(new NoWorker("not installed"))
    })
  })
  return taken
}

/** A notification that was clicked leads to its chat: the worker says which, and this page goes there without being loaded anew. */
export function onLed(go: (place: string) => void): () => void {
  if (!("serviceWorker" in navigator)) return () => {}
  const heard = ({ data }: MessageEvent) => {
    const { go: place } = data as { go?: unknown }
    if (typeof place === "string" && place.startsWith("/")) go(place)
  }
  navigator.serviceWorker.addEventListener("message", heard)
  return () => navigator.serviceWorker.removeEventListener("message", heard)
}

export async function pushState(): Promise<PushState> {
  if (!("serviceWorker" in navigator) || !("PushManager" in window) || !("Notification" in window)) return "unsupported"
  if (Notification.permission === "denied") return "denied"
  return (await subscription()) ? "on" : "off"
}

/** Asks for permission. null: it was not given. */
export async function subscribe(publicKey: string): Promise<Address | null> {
  if ((await Notification.requestPermission()) !== "granted") return null
  const worker = await workerTaken()
  const made = await worker.pushManager.subscribe({ userVisibleOnly: true, applicationServerKey: publicKey })
  pushFor.set(keptPerson())
  return addressOf(made)
}

/** What was subscribed at an earlier visit. */
export async function knownAddress(): Promise<Address | null> {
  const known = await subscription()
  return known ? addressOf(known) : null
}

export async function unsubscribe(): Promise<string | null> {
  const known = await subscription()
  await known?.unsubscribe()
  pushFor.forget()
  return known?.endpoint ?? null
}

async function subscription(): Promise<PushSubscription | null> {
  if (pushFor.get() !== keptPerson() || !("serviceWorker" in navigator) || !("PushManager" in window)) return null
  const worker = await navigator.serviceWorker.getRegistration()
  return (await worker?.pushManager.getSubscription()) ?? null
}

function addressOf(made: PushSubscription): Address {
  const { keys } = made.toJSON()
  return { endpoint: made.endpoint, auth_key: keys?.["auth"] ?? "", p256dh_key: keys?.["p256dh"] ?? "" }
}
