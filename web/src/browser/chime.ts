/** A short sound, once for all tabs of a browser. Nothing is loaded for it. */

interface Claim {
  what: string
  at: number
}

const kept = "chatd.chimed"
/** Tabs hear of the same thing within this time. */
const sameMs = 5000
/** A tab that shows what it is about says so first: then there is no need for a sound. */
const politeMs = 250

/** `isSeen`: this tab shows it, so that none of them makes a sound. */
export async function chimeOnce(what: string, isSeen: boolean): Promise<void> {
  if (!isSeen) {
    // Browsers let only those pages be heard that someone has used: another tab may be one.
    if (!navigator.userActivation.hasBeenActive) return
    await new Promise((resolve) => setTimeout(resolve, politeMs))
  }
  await alone(() => {
    if (claim(what) && !isSeen) play()
  })
}

/** One tab after the other; pages without TLS have no locks. */
async function alone(act: () => void): Promise<void> {
  if ("locks" in navigator) await navigator.locks.request(kept, act)
  else act()
}

/** Whether no tab has done so just before. */
function claim(what: string): boolean {
  try {
    const last = JSON.parse(localStorage.getItem(kept) ?? "null") as Claim | null
    const now = Date.now()
    if (last?.what === what && now - last.at < sameMs) return false
    localStorage.setItem(kept, JSON.stringify({ what, at: now } satisfies Claim))
    return true
  } catch {
    return true
  }
}

/** Two soft notes. */
export function play(): void {
  const audio = new AudioContext()
  const tone = audio.createOscillator()
  const volume = audio.createGain()
  const start = audio.currentTime
  tone.frequency.setValueAtTime(660, start)
  tone.frequency.setValueAtTime(880, start + 0.12)
  volume.gain.setValueAtTime(0.0001, start)
  volume.gain.exponentialRampToValueAtTime(0.15, start + 0.02)
  volume.gain.exponentialRampToValueAtTime(0.0001, start + 0.5)
  tone.connect(volume).connect(audio.destination)
  tone.addEventListener("ended", () => void audio.close())
  tone.start(start)
  tone.stop(start + 0.5)
}
