import { BookOpen } from "lucide-react"
import type { ContextBlock, OpenedChat } from "../../chat"
import { words } from "../../words"
import { FoldedLine } from "./FoldedLine"
import css from "./row.module.css"

/** Instruction files and skills that the chat was given. */
export function ContextRow({ row, opened }: { row: ContextBlock; opened: OpenedChat }) {
  return (
    <FoldedLine
      opened={opened}
      lineKey={row.key}
      icon={BookOpen}
      tone="muted"
      summary={words.chat.contextGiven(row.files.length, row.skills.length)}
    >
      <ul className={css["list"]}>
        {row.files.map((file) => (
          <li key={file.context_file_path}>
            <code className={css["mono"]}>{file.context_file_path}</code>{" "}
            {file.context_file_truncated && <span className={css["muted"]}>{words.cards.onlyBeginning}</span>}
          </li>
        ))}
        {row.skills.map((skill) => (
          <li key={skill.skill_name}>
            <code className={css["mono"]}>{skill.skill_name}</code> <span className={css["muted"]}>{skill.skill_description}</span>
          </li>
        ))}
      </ul>
    </FoldedLine>
  )
}
