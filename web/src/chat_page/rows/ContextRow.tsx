import { BookOpen } from "lucide-react"
import type { ContextBlock } from "../../chat"
import { Disclosure } from "../../ui/layout/Disclosure"
import { words } from "../../words"
import css from "./row.module.css"

/** Instruction files and skills that the chat was given. */
export function ContextRow({ row }: { row: ContextBlock }) {
  return (
    <Disclosure icon={BookOpen} tone="muted" summary={words.chat.contextGiven(row.files.length, row.skills.length)}>
      <ul className={css["list"]}>
        {row.files.map((file) => (
          <li key={file.context_file_path} className={css["mono"]}>
            {file.context_file_path}
          </li>
        ))}
        {row.skills.map((skill) => (
          <li key={skill.skill_name}>
            <span className={css["mono"]}>{skill.skill_name}</span> {skill.skill_description}
          </li>
        ))}
      </ul>
    </Disclosure>
  )
}
