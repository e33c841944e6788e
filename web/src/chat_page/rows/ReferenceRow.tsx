import { FileCode } from "lucide-react"
import type { FileReferencePart } from "../../api/events"
import { CodeBlock } from "../../ui/code/CodeBlock"
import { Popover } from "../../ui/floating/Popover"
import { Icon } from "../../ui/Icon"
import { words } from "../../words"
import css from "./files.module.css"

/** A piece of a file: its name and lines, with the code to look at. */
export function ReferenceRow({ reference }: { reference: FileReferencePart }) {
  const { file_name: name, start_line: start, end_line: end, content } = reference
  return (
    <Popover
      label={name}
      trigger={
        <button type="button" className={css["chip"]} title={name}>
          <Icon of={FileCode} />
          <span className={css["name"]}>{name.split("/").at(-1)}</span>
          <span className={css["aside"]}>{words.chat.lines(start, end)}</span>
        </button>
      }
    >
      <CodeBlock code={content} fileName={name} firstLine={start} isBounded />
    </Popover>
  )
}
