/** Without those that are taken for one another when they are read aloud or copied by hand. */
const LETTERS = "abcdefghjkmnpqrstuvwxyz23456789"
const GROUPS = 4
const OF = 5

/** About 99 bits, in groups that can be read. */
export function generatedPassword(): string {
  return Array.from({ length: GROUPS }, () => Array.from({ length: OF }, randomLetter).join("")).join("-")
}

/** Bytes that would favour the first letters are thrown away. */
function randomLetter(): string {
  const most = 256 - (256 % LETTERS.length)
  for (;;) {
    const [byte = most] = crypto.getRandomValues(new Uint8Array(1))
    if (byte < most) return LETTERS[byte % LETTERS.length] ?? ""
  }
}
