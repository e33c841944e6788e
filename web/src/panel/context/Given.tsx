import { BookOpen, Plug, ScrollText } from "lucide-react"
import type { ChatContextResource, ContextKind } from "../../api/schema"
import { Icon } from "../../ui/Icon"
import { Badge } from "../../ui/status/Badge"
import { Bytes } from "../../ui/values/figures"
import { words } from "../../words"
import css from "./Context.module.css"

const kinds: readonly { kind: ContextKind; icon: typeof BookOpen; title: string }[] = [
  { kind: "instruction_file", icon: ScrollText, title: words.panel.context.instructions },
  { kind: "skill", icon: BookOpen, title: words.panel.context.skills },
  { kind: "mcp_config", icon: Plug, title: words.panel.context.servers },
]

/** Instruction files, skills and servers, each with why it was left out where it was. */
export function Given({ resources }: { resources: readonly ChatContextResource[] }) {
  return kinds.map(({ kind, icon, title }) => {
    const found = resources.filter((one) => one.kind === kind)
    if (found.length === 0) return null
    return (
      <section key={kind} aria-label={title} className={css["kind"]}>
        <h3 className={css["kindTitle"]}>{title}</h3>
        <ul className={css["resources"]}>
          {found.map((one) => (
            <li key={one.source} className={css["resource"]}>
              <Icon of={icon} className={css["icon"]} />
              <div className={css["about"]}>
                <p className={css["name"]}>{one.name || one.source}</p>
                {one.name && <p className={css["beside"]}>{one.source}</p>}
                {one.description && <p className={css["beside"]}>{one.description}</p>}
                {one.status !== "ok" && (
                  <p className={css["wrong"]}>
                    <Badge kind="warn">{words.panel.context.wrong[one.status]}</Badge> {one.error}
                  </p>
                )}
              </div>
              <span className={css["beside"]}>
                <Bytes bytes={one.size_bytes} />
              </span>
            </li>
          ))}
        </ul>
      </section>
    )
  })
}
