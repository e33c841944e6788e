/** The log of a build of a workspace, read to its end and on while the build goes on. */
import { queryOptions, useQuery } from "@tanstack/react-query"
import { request } from "../../api/request"
import type { BuildLogLine, BuildStatus } from "../../api/schema"

export interface BuildLog {
  readonly lines: readonly BuildLogLine[]
  readonly status: BuildStatus
}

const LOOKS_EVERY = 1500

export interface OfBuild {
  readonly workspace: string
  readonly build: string
}

function buildLog({ workspace, build }: OfBuild) {
  const queryKey = ["builds", "log", workspace, build] as const
  return queryOptions({
    queryKey,
    queryFn: async ({ client, signal }): Promise<BuildLog> => {
      const known = client.getQueryData<BuildLog>(queryKey)
      const lines = [...(known?.lines ?? [])]
      for (;;) {
        const after = lines.at(-1)?.id ?? 0
        const page = await request("GET /api/experimental/workspaces/{workspace}/builds/{build}/logs", { path: { workspace, build }, query: { after }, signal })
        lines.push(...page.logs)
        if (page.next_after === null || page.logs.length === 0) return { lines, status: page.build.status }
      }
    },
    refetchInterval: ({ state }) => (state.data && isGoing(state.data.status) ? LOOKS_EVERY : false),
  })
}

export function useBuildLog(of: OfBuild) {
  return useQuery(buildLog(of))
}

export function isGoing(status: BuildStatus): boolean {
  return status === "pending" || status === "running"
}

/** As a terminal would show it: each stage with its name above. */
export function logText(lines: readonly BuildLogLine[]): string {
  return lines
    .map((line, place) => {
      const isNewStage = line.stage !== "" && line.stage !== lines[place - 1]?.stage
      return `${isNewStage ? `\u001b[1m${line.stage}\u001b[0m\n` : ""}${line.level === "error" ? `\u001b[31m${line.line}\u001b[0m` : line.line}`
    })
    .join("\n")
}
