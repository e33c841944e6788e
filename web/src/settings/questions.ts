/** What the settings read; keys begin as those of `api/queries` do where they are about the same things. */
import { queryOptions } from "@tanstack/react-query"
import { request } from "../api/request"

export const questions = {
  providers: queryOptions({
    queryKey: ["providers"],
    queryFn: ({ signal }) => request("GET /api/experimental/chats/providers", { signal }),
  }),
}
