import { LayoutTemplate } from "lucide-react"
import { type Fields, isFields, textOf } from "../../chat/guards"
import { type Column, Table } from "../../ui/layout/Table"
import { Markdown } from "../../ui/markdown/Markdown"
import { Badge } from "../../ui/status/Badge"
import { words } from "../../words"
import css from "./card.module.css"
import { CardLine, type CardProps } from "./CardLine"
import { Code } from "./Code"
import { fieldsIn } from "./lists"
import { ScrollBox } from "./ScrollBox"

/** What a workspace could be made from. */
export function ListTemplatesCard({ call, opened }: CardProps) {
  const templates = fieldsIn(call.result, "templates")
  const query = textOf(call.args, "query")
  const recommended = textOf(call.result, "recommended_template_id")
  const isTold = isFields(call.result) && Array.isArray(call.result["templates"])
  return (
    <CardLine
      {...{ call, opened }}
      icon={LayoutTemplate}
      verbs={words.cards.listTemplates}
      object={query !== "" && words.cards.forQuery(query)}
      facts={[isTold && words.cards.templateCount(templates.length)]}
    >
      {isTold &&
        (templates.length === 0 ? (
          <p className={css["note"]}>{words.cards.noTemplates}</p>
        ) : (
          <ul className={css["list"]}>
            {templates.map((template) => (
              <li key={textOf(template, "id")}>
                <span className={css["inline"]}>
                  <strong>{nameOf(template)}</strong>
                  {textOf(template, "id") === recommended && recommended !== "" && <Badge kind="accent">{words.cards.recommended}</Badge>}
                </span>
                <p className={css["note"]}>{textOf(template, "description")}</p>
              </li>
            ))}
          </ul>
        ))}
    </CardLine>
  )
}

export function ReadTemplateCard({ call, opened }: CardProps) {
  const template = isFields(call.result) ? call.result["template"] : undefined
  const readme = textOf(template, "readme")
  const description = textOf(template, "description")
  const parameters = fieldsIn(call.result, "parameters")
  return (
    <CardLine {...{ call, opened }} icon={LayoutTemplate} verbs={words.cards.readTemplate} object={isFields(template) && <Code>{nameOf(template)}</Code>}>
      {isFields(template) && (
        <>
          {description !== "" && <p>{description}</p>}
          {parameters.length > 0 && (
            <Table caption={words.cards.parameters} columns={columns} rows={parameters} rowKey={(parameter) => textOf(parameter, "name")} />
          )}
          {readme !== "" && (
            <ScrollBox label={nameOf(template)}>
              <Markdown text={readme} size="small" />
            </ScrollBox>
          )}
        </>
      )}
    </CardLine>
  )
}

function nameOf(template: Fields): string {
  return textOf(template, "display_name") || textOf(template, "name")
}

const heads = words.cards.parameterColumns

const columns: readonly Column<Fields>[] = [
  { key: "name", header: heads.name, isMain: true, cell: (parameter) => <Code>{textOf(parameter, "name")}</Code> },
  { key: "type", header: heads.type, cell: (parameter) => textOf(parameter, "type") },
  { key: "default", header: heads.fallback, cell: defaultOf },
  { key: "about", header: heads.about, cell: (parameter) => textOf(parameter, "description") },
]

function defaultOf(parameter: Fields) {
  if (parameter["required"] === true) return words.cards.required
  const given = parameter["default"] ?? parameter["default_value"]
  return given === undefined || given === null ? null : <Code>{typeof given === "string" ? given : JSON.stringify(given)}</Code>
}
