/** Leaving because of who is signed in: nobody is asked about what was not saved, for whoever wrote it is not there any more. */

let isUnderWay = false

/** To another place, or to the same one anew. */
export function leave(place: string = location.href): void {
  isUnderWay = true
  if (place === location.href) location.reload()
  else location.assign(place)
}

export function isBeingLeft(): boolean {
  return isUnderWay
}
