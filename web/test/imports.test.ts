/** The table of folders in ARCHITECTURE.md, held against the code. */
import { readdirSync, readFileSync } from "node:fs"
import { dirname, join, relative, resolve } from "node:path"
import { expect, test } from "vitest"

const root = resolve(import.meta.dirname, "..")
const source = join(root, "src")

function allowed(): Map<string, Set<string>> {
  const page = readFileSync(join(root, "ARCHITECTURE.md"), "utf8")
  const table = new Map<string, Set<string>>()
  for (const [, folders = "", , may = ""] of page.matchAll(/^\| (`src\/.+?) \| (.+?) \| (.+?) \|$/gm)) {
    const names = may === "nothing" ? [] : may.split(", ")
    for (const [, folder = ""] of folders.matchAll(/`src\/(\w+)`/g)) table.set(folder, new Set(names))
  }
  return table
}

function modules(): string[] {
  return readdirSync(source, { recursive: true, encoding: "utf8" }).filter((path) => /\.tsx?$/.test(path) && path.includes("/"))
}

test("folders import only what the table allows", () => {
  const table = allowed()
  expect(table.size).toBeGreaterThan(8)
  const wrong: string[] = []
  for (const path of modules()) {
    const folder = path.split("/")[0] ?? ""
    const may = table.get(folder)
    for (const [, from = ""] of readFileSync(join(source, path), "utf8").matchAll(/(?:from|import) "(\.[^"]+)"/g)) {
      const other = relative(source, resolve(dirname(join(source, path)), from)).split("/")[0] ?? ""
      if (other === folder || !may || may.has("everything") || may.has(other)) continue
      wrong.push(`${path} imports ${other}`)
    }
  }
  expect(wrong).toEqual([])
})

test("every folder is in the table", () => {
  const folders = new Set(modules().map((path) => path.split("/")[0] ?? ""))
  expect([...folders].filter((folder) => !allowed().has(folder))).toEqual([])
})
