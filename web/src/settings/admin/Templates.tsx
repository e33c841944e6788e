import { useQuery } from "@tanstack/react-query"
import { LayoutTemplate, Plus } from "lucide-react"
import { Link, useLocation } from "wouter"
import { queries } from "../../api/queries"
import type { Template } from "../../api/schema"
import { Button } from "../../ui/buttons/Button"
import { PageTitle } from "../../ui/layout/Page"
import { Table } from "../../ui/layout/Table"
import { Badge } from "../../ui/status/Badge"
import { EmptyState } from "../../ui/status/EmptyState"
import { words } from "../../words/with_settings"
import { BackLink } from "../BackLink"
import { Loaded } from "../Loaded"
import type { PlaceProps } from "../pages"
import css from "../place.module.css"
import { TemplateAdd, TemplateEdit } from "./TemplateDetail"

export function Templates({ item }: PlaceProps) {
  const templates = useQuery(queries.templates)
  if (item === undefined) return <Loaded query={templates}>{(list) => <TemplateList templates={list} />}</Loaded>
  return (
    <>
      <BackLink to="/settings/templates">{words.settings.pages.templates}</BackLink>
      {item === "new" ? <TemplateAdd /> : <TemplateEdit id={item} />}
    </>
  )
}

function TemplateList({ templates }: { templates: readonly Template[] }) {
  const [, navigate] = useLocation()
  const text = words.settings.templates
  const add = (
    <Button kind="primary" icon={Plus} onClick={() => navigate("/settings/templates/new")}>
      {text.add}
    </Button>
  )
  return (
    <>
      <PageTitle title={words.settings.pages.templates} text={text.text} actions={templates.length > 0 && add} />
      {templates.length === 0 ? (
        <EmptyState icon={LayoutTemplate} title={text.none} text={text.noneText} action={add} />
      ) : (
        <Table
          caption={words.settings.pages.templates}
          isCaptionHidden
          rows={templates}
          rowKey={(one) => one.id}
          columns={[
            {
              key: "name",
              header: text.name,
              isMain: true,
              cell: (one) => (
                <>
                  <Link href={`/settings/templates/${one.id}`}>{one.display_name || one.name}</Link>
                  <span className={css["below"]}>{one.description}</span>
                </>
              ),
            },
            { key: "kind", header: text.provisioner, cell: (one) => text.provisioners[one.provisioner] },
            { key: "count", header: words.shell.workspaces, align: "end", cell: (one) => one.workspace_count },
            {
              key: "agents",
              header: text.agentsShort,
              cell: (one) => (one.agents_allowed ? <Badge kind="ok">{text.allowed}</Badge> : <Badge>{text.notAllowed}</Badge>),
            },
          ]}
        />
      )}
    </>
  )
}
