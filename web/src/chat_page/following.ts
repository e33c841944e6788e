/** Whether a reader is at the end of a conversation and goes on with it. */

export interface Place {
  readonly offset: number
  /** Of all that there is, and of what is seen of it. */
  readonly size: number
  readonly window: number
}

/** This near to the end counts as being there. */
const NEAR = 48

/** `isHeld`: a finger or a button is on it, so that what moves is moved by the reader. */
export function isFollowing(was: boolean, before: Place, now: Place, isHeld: boolean): boolean {
  const left = now.size - now.offset - now.window
  if (left < 2) return true
  // What has grown since it was told to go to the end is gone after.
  if (now.offset >= before.offset) return was || left < NEAR
  // Rows that turn out to be lower than was thought take the place up with them, and so does a window that grows when the
  // composer gives room: nobody has gone up.
  return was && (now.size !== before.size || now.window !== before.window) && !isHeld
}
