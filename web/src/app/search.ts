/** What was typed as a term of the list's query language: `core/chat_search.py` reads it. */
export function searchFor(typed: string): string {
  return `search:"${typed.trim().replace(/["\\]/g, "\\$&")}"`
}
