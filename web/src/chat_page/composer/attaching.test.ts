import { expect, test, vi } from "vitest"
import { draftOf } from "../../chat"
import { attach, attachPasted, canPasteInline, canTryAgain, pasteInline, tryAgain } from "./attaching"

const uploads = vi.hoisted(() => ({ answers: [] as (() => Promise<{ id: string }>)[], sent: [] as string[] }))
vi.mock("../../api/upload", () => ({
  upload: async (file: File) => {
    uploads.sent.push(await file.text())
    return uploads.answers.shift()?.()
  },
}))
vi.mock("../../api/request", async (original) => ({ ...(await original<object>()), fetched: async () => new Response("as the server has it") }))

const file = (of: ReturnType<typeof draftOf>) => {
  const [found] = of.getState().files
  if (!found) throw new Error("there is no file")
  return found
}

test("a file that did not arrive is kept to be sent again", async () => {
  const draft = draftOf("again")
  uploads.answers.push(() => Promise.reject(new Error("no network")), async () => ({ id: "f1" }))
  attach(draft, [new File(["words"], "a.txt")])
  await vi.waitFor(() => expect(file(draft).error).toBe("no network"))
  expect(canTryAgain(file(draft))).toBe(true)
  tryAgain(draft, file(draft).key)
  await vi.waitFor(() => expect(file(draft)).toMatchObject({ id: "f1", error: null }))
  expect(uploads.sent).toEqual(["words", "words"])
})

test("of a paste that has arrived nothing is kept here", async () => {
  const draft = draftOf("pasted")
  uploads.answers.push(async () => ({ id: "f2" }))
  attachPasted(draft, "a long text")
  await vi.waitFor(() => expect(file(draft).id).toBe("f2"))
  expect(canPasteInline(file(draft))).toBe(true)
  await pasteInline(draft, file(draft))
  expect(draft.getState()).toMatchObject({ text: "as the server has it", files: [] })
})
