import { GraduationCap } from "lucide-react"
import { textOf } from "../../chat/guards"
import { CodeBlock } from "../../ui/code/CodeBlock"
import { Markdown } from "../../ui/markdown/Markdown"
import { words } from "../../words"
import css from "./card.module.css"
import { CardLine, type CardProps } from "./CardLine"
import { Code } from "./Code"
import { textsIn } from "./lists"
import { ScrollBox } from "./ScrollBox"

/** Instructions that the model has read, and the files that belong to them. */
export function ReadSkillCard({ call, opened }: CardProps) {
  const name = textOf(call.args, "name")
  const body = textOf(call.result, "body")
  const files = textsIn(call.result, "files")
  return (
    <CardLine
      {...{ call, opened }}
      icon={GraduationCap}
      verbs={words.cards.readSkill}
      object={name !== "" && <Code title={textOf(call.result, "directory") || undefined}>{name}</Code>}
    >
      {body !== "" && (
        <>
          <ScrollBox label={name}>
            <Markdown text={body} size="small" />
          </ScrollBox>
          {files.length > 0 && (
            <div>
              <p className={css["heading"]}>{words.cards.skillFiles}</p>
              <ul className={css["list"]}>
                {files.map((file) => (
                  <li key={file} className={css["mono"]}>
                    {file}
                  </li>
                ))}
              </ul>
            </div>
          )}
          <Note of={call.result} />
        </>
      )}
    </CardLine>
  )
}

export function ReadSkillFileCard({ call, opened }: CardProps) {
  const name = textOf(call.args, "name")
  const path = textOf(call.args, "path")
  const content = textOf(call.result, "content")
  return (
    <CardLine {...{ call, opened }} icon={GraduationCap} verbs={words.cards.readFile} object={<Code>{path === "" ? name : `${name}/${path}`}</Code>}>
      {content !== "" && (
        <>
          {/\.(md|markdown)$/i.test(path) ? (
            <ScrollBox label={path}>
              <Markdown text={content} size="small" />
            </ScrollBox>
          ) : (
            <CodeBlock code={content} fileName={path} firstLine={1} isBounded />
          )}
          <Note of={call.result} />
        </>
      )}
    </CardLine>
  )
}

function Note({ of }: { of: unknown }) {
  const note = textOf(of, "note")
  return note === "" ? null : <p className={css["note"]}>{note}</p>
}
