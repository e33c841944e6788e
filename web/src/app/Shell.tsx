import type { User } from "../api/schema"

export function Shell({ me }: { me: User }) {
  return <main>{me.username}</main>
}
