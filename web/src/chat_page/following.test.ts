import { describe, expect, it } from "vitest"
import { isFollowing, type Place } from "./following"

const at = (offset: number, size = 1000, window = 300): Place => ({ offset, size, window })

describe("whether a reader follows the end", () => {
  it.each<[string, boolean, Place, Place, boolean, boolean]>([
    ["who is at the end", true, at(700), at(700), false, true],
    ["who comes to the end", false, at(500), at(700), true, true],
    ["who comes near to it", false, at(500), at(660), true, true],
    ["who goes down and is not there yet", false, at(100), at(500), true, false],
    ["whose end has gone further meanwhile", true, at(600, 900), at(600, 1200), false, true],
    ["who was moved down, and it has grown again", true, at(600, 900), at(700, 1400), false, true],
    ["who goes up a little", true, at(700), at(690), false, false],
    ["who goes up while it grows, with a finger", true, at(700), at(690, 1100), true, false],
    ["who was taken up by rows that are lower, before others came", true, at(700), at(650, 1100), false, true],
    ["who was taken up by a window that grew, and became lower again before that was told", true, at(700), at(600, 1000, 340), false, true],
    ["who is away and stays there when something comes", false, at(200), at(200, 1300), false, false],
    ["who is away, when rows above turn out to be lower", false, at(200), at(150, 950), false, false],
  ])("%s", (_, was, before, now, isHeld, follows) => {
    expect(isFollowing(was, before, now, isHeld)).toBe(follows)
  })
})
