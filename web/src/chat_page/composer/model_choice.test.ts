import { expect, test } from "vitest"
import { modelConfig } from "../testing/made_chat"
import { wishedModel } from "./model_choice"

const models = [modelConfig("a"), modelConfig("b", { is_default: true }), modelConfig("c")]
const nothing = { chosen: "", last: "" }
const wished = (...given: Parameters<typeof wishedModel>) => wishedModel(...given)?.id

test("a chat goes on with its own model until another is chosen for it", () => {
  const chat = { last_model_config_id: "a" }
  expect(wished(models, { ...nothing, chat, last: "c" })).toBe("a")
  expect(wished(models, { ...nothing, chat, last: "c", chosen: "b" })).toBe("b")
})

test("a model that is gone gives way to the default one", () => {
  expect(wished(models, { ...nothing, chat: { last_model_config_id: "gone" }, chosen: "gone too" })).toBe("b")
  expect(wished(models, { ...nothing, chat: null, last: "gone" })).toBe("b")
  expect(wished([modelConfig("a")], { ...nothing, chat: null })).toBe("a")
  expect(wished([], { ...nothing, chat: null })).toBeUndefined()
})

test("a new chat begins with what was last chosen anywhere", () => {
  expect(wished(models, { chat: null, chosen: "a", last: "c" })).toBe("c")
})

test("a chat that nobody knows yet is given no other model", () => {
  expect(wished(models, { ...nothing, chat: undefined, last: "c" })).toBeUndefined()
  expect(wished(models, { ...nothing, chat: undefined, chosen: "a" })).toBe("a")
})
