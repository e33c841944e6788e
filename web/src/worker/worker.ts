/// <reference lib="webworker" />
/**
 * Shows what the server pushes when no page does, and keeps the shell for when there is no network. It imports nothing:
 * not all browsers take a worker that is a module.
 */
export {}

declare const self: ServiceWorkerGlobalScope

interface Pushed {
  title: string
  body: string
  icon?: string
  data: { url: string }
}

const SHELL = "shell-1"
const PAGE = "/"
/** One version has about a hundred. */
const MOST_FILES = 400

self.addEventListener("install", (event) => {
  event.waitUntil(caches.open(SHELL).then((cache) => cache.add(PAGE)))
  void self.skipWaiting()
})

self.addEventListener("activate", (event) => {
  event.waitUntil(Promise.all([self.clients.claim(), forgetOthers()]))
})

async function forgetOthers(): Promise<void> {
  for (const name of await caches.keys()) if (name !== SHELL) await caches.delete(name)
}

/** Files whose name has a hash never change; pages come from the network while there is one. All else is not ours. */
self.addEventListener("fetch", (event) => {
  const url = new URL(event.request.url)
  if (event.request.method !== "GET" || url.origin !== self.location.origin) return
  if (url.pathname.startsWith("/assets/")) event.respondWith(keptFirst(event.request))
  else if (event.request.mode === "navigate" && !url.pathname.startsWith("/api")) event.respondWith(networkFirst(event.request))
})

async function keptFirst(request: Request): Promise<Response> {
  const cache = await caches.open(SHELL)
  const kept = await cache.match(request)
  if (kept) return kept
  const answer = await fetch(request)
  if (answer.ok) {
    await cache.put(request, answer.clone())
    await forgetOldest(cache)
  }
  return answer
}

/** Every version has files of other names; a few versions' worth are kept. */
async function forgetOldest(cache: Cache): Promise<void> {
  const files = (await cache.keys()).filter((kept) => new URL(kept.url).pathname !== PAGE)
  for (const old of files.slice(0, Math.max(0, files.length - MOST_FILES))) await cache.delete(old)
}

/** Every address of the app is the same page. */
async function networkFirst(request: Request): Promise<Response> {
  const cache = await caches.open(SHELL)
  try {
    const answer = await fetch(request)
    if (answer.ok && answer.headers.get("content-type")?.startsWith("text/html")) await cache.put(PAGE, answer.clone())
    return answer
  } catch {
    return (await cache.match(PAGE)) ?? Response.error()
  }
}

self.addEventListener("push", (event) => {
  if (event.data) event.waitUntil(show(event.data.json() as Pushed))
})

/** Not for a chat that is being looked at. */
async function show({ title, body, data }: Pushed): Promise<void> {
  const pages = await self.clients.matchAll({ type: "window", includeUncontrolled: true })
  const place = placeOf(data.url)
  if (pages.some((page) => page.visibilityState === "visible" && new URL(page.url).pathname === place)) return
  await self.registration.showNotification(title, { body, icon: "/icon-192.png", badge: "/icon-192.png", data: { url: place }, tag: place })
}

/** The server says it as clients of the reference know it. */
function placeOf(url: string): string {
  return url.replace(/^\/agents\//, "/chats/")
}

self.addEventListener("notificationclick", (event) => {
  event.notification.close()
  event.waitUntil(lead((event.notification.data as { url: string }).url))
})

/** To a page that is open already, if there is one: it goes there by itself, with all that was typed into it. */
async function lead(place: string): Promise<void> {
  const pages = await self.clients.matchAll({ type: "window" })
  const open = pages.find((page) => new URL(page.url).pathname === place) ?? pages[0]
  if (!open) {
    await self.clients.openWindow(place)
    return
  }
  await open.focus()
  open.postMessage({ go: place })
}
