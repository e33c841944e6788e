/** Names of files in the headers of a diff: with a/ and b/ in front, quoted when they have unusual characters, and with a time behind. */

export function pathIn(written: string, hasPrefix: boolean): string {
  const name = unquoted(written.startsWith('"') ? written : (written.split("\t")[0] ?? written))
  return hasPrefix ? name.replace(/^[a-z]\//, "") : name
}

/** "a/x b/x" has no mark between the two: names with spaces are cut where both halves are the same. */
export function pathsInHeader(rest: string): { before: string; after: string } {
  const quoted = /^("(?:[^"\\]|\\.)*"|\S+) ("(?:[^"\\]|\\.)*"|\S+)$/.exec(rest)
  if (quoted) return { before: pathIn(quoted[1] ?? "", true), after: pathIn(quoted[2] ?? "", true) }
  const half = (rest.length - 1) / 2
  const before = pathIn(rest.slice(0, half), true)
  const after = pathIn(rest.slice(half + 1), true)
  if (before === after) return { before, after }
  const [first = "", second = ""] = rest.split(/ (?=b\/)/)
  return { before: pathIn(first, true), after: pathIn(second, true) }
}

const letters: Record<string, number> = { t: 9, n: 10, r: 13, a: 7, b: 8, f: 12, v: 11 }

/** Git writes unusual bytes as \303\244; they are UTF-8. */
function unquoted(name: string): string {
  if (!name.startsWith('"') || !name.endsWith('"')) return name
  const bytes: number[] = []
  const encoder = new TextEncoder()
  for (const [whole, octal, escaped] of name.slice(1, -1).matchAll(/\\([0-7]{3})|\\(.)|[^\\]+/gs)) {
    if (octal !== undefined) bytes.push(Number.parseInt(octal, 8))
    else if (escaped !== undefined) bytes.push(letters[escaped] ?? escaped.charCodeAt(0))
    else bytes.push(...encoder.encode(whole))
  }
  return new TextDecoder().decode(new Uint8Array(bytes))
}
