/** Names of tools that nobody has put into words: `github__create_issue`, `listFiles`. */
export interface ToolTitle {
  readonly name: string
  /** Whose tool it is; empty where the name does not say. */
  readonly server: string
}

export function toolTitle(tool: string): ToolTitle {
  const at = tool.lastIndexOf("__")
  const own = at > 0 && at < tool.length - 2 ? tool.slice(at + 2) : tool
  return { name: humanised(own), server: own === tool ? "" : tool.slice(0, at).replace(/^mcp__?/, "") }
}

function humanised(name: string): string {
  const parts = name
    .replace(/([a-z\d])([A-Z])/g, "$1 $2")
    .split(/[\s_.-]+/)
    .filter(Boolean)
  const sentence = parts.map((part) => (/^[A-Z\d]{2,}s?$/.test(part) ? part : part.toLowerCase())).join(" ")
  return sentence.charAt(0).toUpperCase() + sentence.slice(1)
}
