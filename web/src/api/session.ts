/** Whether the server knows who asks. Any request or stream may be the one that hears that it does not. */

const OUT = "chatd:signed-out"
const IN = "chatd:signed-in"

let signIns = 0

/** How often someone has signed in on this page: what was asked before the last time says nothing about now. */
export function signInCount(): number {
  return signIns
}

export function tellSignedOut(): void {
  window.dispatchEvent(new Event(OUT))
}

/** Whoever was signed out and waits goes on. */
export function tellSignedIn(): void {
  signIns += 1
  window.dispatchEvent(new Event(IN))
}

/** Gives what ends it. */
export function onSignedOut(run: () => void): () => void {
  window.addEventListener(OUT, run)
  return () => window.removeEventListener(OUT, run)
}

/** Gives what ends it. */
export function onSignedIn(run: () => void): () => void {
  window.addEventListener(IN, run)
  return () => window.removeEventListener(IN, run)
}
