import { FileCode } from "lucide-react"
import type { FileReferencePart } from "../../api/events"
import { CodeBlock } from "../../ui/code/CodeBlock"
import { Popover } from "../../ui/floating/Popover"
import { Icon } from "../../ui/Icon"
import { words } from "../../words"
import css from "./row.module.css"

/** A piece of a file: its name and lines, with the code to look at. */
export function ReferenceRow({ reference }: { reference: FileReferencePart }) {
  const { file_name: name, start_line: start, end_line: end, content } = reference
  return (
    <Popover
      label={name}
      trigger={
        <button type="button" className={css["chip"]}>
          <Icon of={FileCode} />
          <span>
            {name.split("/").at(-1)} <span className={css["muted"]}>{words.chat.lines(start, end)}</span>
          </span>
        </button>
      }
    >
      <CodeBlock code={content} fileName={name} firstLine={start} isBounded />
    </Popover>
  )
}
