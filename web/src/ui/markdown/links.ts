/** Where a text may lead: the web and mail. Everything else is only shown. */
const allowed = new Set(["http:", "https:", "mailto:"])

export function safeAddress(href: string): string | null {
  try {
    const url = new URL(href)
    return allowed.has(url.protocol) ? url.href : null
  } catch {
    return null
  }
}

/** Pictures are loaded from this server only: from elsewhere they would tell who reads what. */
export function ownPicture(href: string): string | null {
  const origin = globalThis.location?.origin
  if (href.startsWith("/") && !href.startsWith("//") && !href.includes("\\")) return href
  return origin !== undefined && href.startsWith(`${origin}/`) ? href : null
}
