import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { partialJson } from "./partial_json"

/** Whether `part` is what a reader may know of `whole` before the end. */
function isBeginning(part: unknown, whole: unknown): boolean {
  if (part === undefined) return true
  if (typeof part === "string" && typeof whole === "string") return whole.startsWith(part)
  if (typeof part === "number" && typeof whole === "number") return true
  if (Array.isArray(part) && Array.isArray(whole)) {
    return part.length <= whole.length && part.every((item, place) => isBeginning(item, whole[place]))
  }
  if (part !== null && whole !== null && typeof part === "object" && typeof whole === "object") {
    const mine = new Map(Object.entries(part))
    const theirs = new Map(Object.entries(whole))
    return [...mine].every(([name, value]) => theirs.has(name) && isBeginning(value, theirs.get(name)))
  }
  return part === whole
}

describe("JSON that is being written", () => {
  it("reads what a whole text says", () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.constantFrom(0, 2), (value, indent) => {
        const written = JSON.stringify(value, null, indent)
        expect(partialJson(written)).toEqual(JSON.parse(written))
      }),
    )
  })

  it("reads the beginning of it from every prefix", () => {
    fc.assert(
      fc.property(fc.jsonValue({ stringUnit: "grapheme" }), (value) => {
        const written = JSON.stringify(value)
        const whole: unknown = JSON.parse(written)
        for (let end = 0; end <= written.length; end++) {
          expect(isBeginning(partialJson(written.slice(0, end)), whole)).toBe(true)
        }
      }),
    )
  })

  it("never throws, whatever comes", () => {
    fc.assert(fc.property(fc.oneof(fc.string(), fc.string({ unit: fc.constantFrom(...'{}[]",:\\u0d8te1-. ') })), (any) => void partialJson(any)))
    expect(() => partialJson("[".repeat(100_000))).not.toThrow()
    expect(() => partialJson('{"a":'.repeat(100_000))).not.toThrow()
  })

  it.each([
    ['{"command":"ls -l', { command: "ls -l" }],
    ['{"path":"a.txt","con', { path: "a.txt" }],
    ['{"path":"a.txt","content":', { path: "a.txt" }],
    ['{"a":"line\\nnext\\', { a: "line\nnext" }],
    ['{"a":"\\ud83d\\ude', { a: "" }],
    ['{"a":tru', {}],
    ['{"a":-', {}],
    ['{"a":1.', { a: 1 }],
    ["", undefined],
    ["  ", undefined],
  ])("reads %s", (written, value) => expect(partialJson(written)).toEqual(value))
})
