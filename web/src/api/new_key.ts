/** A key for a request that may be sent more than once and is done once. */
export function newKey(): string {
  // `randomUUID` is only there on https and localhost.
  return globalThis.crypto.randomUUID?.() ?? Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, "0")).join("")
}
