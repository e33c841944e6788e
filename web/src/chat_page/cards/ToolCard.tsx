import { type ComponentType, memo } from "react"
import type { CallBlock } from "../../chat"
import { words } from "../../words"
import { AttachFileCard } from "./AttachFileCard"
import type { CardProps } from "./CardLine"
import { EditFilesCard } from "./EditFilesCard"
import { ExecuteCard } from "./ExecuteCard"
import { Fallback } from "./Fallback"
import { GenericCard } from "./GenericCard"
import { MediaCard } from "./MediaCard"
import { ProcessListCard } from "./ProcessListCard"
import { ProcessOutputCard } from "./ProcessOutputCard"
import { ProcessSignalCard } from "./ProcessSignalCard"
import { ProviderCodeCard } from "./ProviderCodeCard"
import { ReadFileCard } from "./ReadFileCard"
import { SearchCard } from "./SearchCard"
import { ReadSkillCard, ReadSkillFileCard } from "./SkillCards"
import { ListTemplatesCard, ReadTemplateCard } from "./TemplateCards"
import { WorkspaceCard } from "./WorkspaceCard"
import { WriteFileCard } from "./WriteFileCard"

type Card = ComponentType<CardProps>

/** The server's own tools. */
const own: Readonly<Record<string, Card>> = {
  execute: ExecuteCard,
  process_output: ProcessOutputCard,
  process_list: ProcessListCard,
  process_signal: ProcessSignalCard,
  read_file: ReadFileCard,
  write_file: WriteFileCard,
  edit_files: EditFilesCard,
  attach_file: AttachFileCard,
  list_templates: ListTemplatesCard,
  read_template: ReadTemplateCard,
  create_workspace: WorkspaceCard,
  start_workspace: WorkspaceCard,
  stop_workspace: WorkspaceCard,
  read_skill: ReadSkillCard,
  read_skill_file: ReadSkillFileCard,
}

/** Those that providers run themselves. */
const ofProviders: Readonly<Record<string, Card>> = {
  web_search: SearchCard,
  web_fetch: SearchCard,
  url_context: SearchCard,
  file_search: SearchCard,
  code_execution: ProviderCodeCard,
  code_interpreter: ProviderCodeCard,
}

/** A call of a tool, as a line that opens. */
export const ToolCard = memo(function ToolCard({ call, opened }: CardProps) {
  const Card = cardOf(call)
  return (
    <Fallback of={call} instead={<GenericCard call={call} opened={opened} note={words.cards.shownPlain} />}>
      <Card call={call} opened={opened} />
    </Fallback>
  )
})

/** A tool of a server elsewhere may have the name of one of ours and mean something else. */
function cardOf(call: CallBlock): Card {
  if (call.isMedia && call.state === "done") return MediaCard
  if (call.mcpServerId !== null) return GenericCard
  const table = call.isOfProvider ? ofProviders : own
  return Object.hasOwn(table, call.name) ? (table[call.name] ?? GenericCard) : GenericCard
}
