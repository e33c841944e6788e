/** Leaving. Nothing of one person is left in memory or in storage for the next. */
import { Refused, request } from "../api/request"
import { forgetPerson } from "../browser/kept"
import { leave } from "../browser/leaving"

/** Throws when the server could not be told: then the session goes on, and so does the page. */
export async function signOut(): Promise<void> {
  try {
    await request("POST /api/v2/users/logout")
  } catch (error) {
    const isOut = error instanceof Refused && error.status === 401
    if (!isOut) throw error
  }
  forgetPerson()
  leave("/")
}
