import { expect, test, vi } from "vitest"
import { flat } from "./commands"

test("all that can be done now is found by its name, within other menus by both names", () => {
  const [run, choose] = [vi.fn(), vi.fn()]
  const found = flat([
    { label: "Rename", run, shortcut: "F2" },
    "line",
    { heading: "More" },
    { label: "Archive", isDisabled: true, run },
    { label: "Theme", entries: [{ label: "Dark", isChecked: true, isOneOf: true, choose }, { label: "Large", isChecked: true, choose }] },
    { label: "Export", isDisabled: true, entries: [{ label: "JSON", run }] },
  ])
  expect(found.map(({ label, shortcut }) => [label, shortcut])).toEqual([["Rename", "F2"], ["Theme: Dark", undefined], ["Theme: Large", undefined]])
  for (const one of found) one.run()
  expect(run).toHaveBeenCalledOnce()
  expect(choose.mock.calls).toEqual([[true], [false]])
})
