import { useQuery } from "@tanstack/react-query"
import { queries } from "../../api/queries"
import { EmptyState } from "../../ui/status/EmptyState"
import { words } from "../../words/with_settings"
import { BackLink } from "../BackLink"
import { Loaded } from "../Loaded"
import type { PlaceProps } from "../pages"
import { questions } from "../questions"
import { ModelAdd, ModelEdit } from "./ModelDetail"
import { ModelList } from "./ModelList"

export function ModelsPage({ item }: PlaceProps) {
  const models = useQuery(queries.models)
  const providers = useQuery(questions.providers)
  if (item === undefined) return <Loaded query={models}>{(list) => <ModelList models={list} />}</Loaded>
  return (
    <>
      <BackLink to="/settings/models">{words.settings.pages.models}</BackLink>
      {item === "new" ? (
        <Loaded query={providers}>{(list) => <Loaded query={models}>{(others) => <ModelAdd providers={list} models={others} />}</Loaded>}</Loaded>
      ) : (
        <Loaded query={models}>
          {(list) => {
            const found = list.find((one) => one.id === item)
            return found ? <ModelEdit key={found.id} model={found} /> : <EmptyState title={words.settings.gone} />
          }}
        </Loaded>
      )}
    </>
  )
}
