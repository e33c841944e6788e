import { QueryClientProvider } from "@tanstack/react-query"
import { useEffect, useState } from "react"
import { makeQueryClient } from "../api/queries"
import { serverNow } from "../api/server_clock"
import { registerWorker } from "../browser/push"
import { followTheme } from "../browser/theme"
import { UiRoot } from "../ui/UiRoot"
import { Crash } from "../ui/status/Crash"
import { readTimeFrom } from "../ui/values/clock"
import { Gate } from "./Gate"

readTimeFrom(serverNow)

export function App() {
  const [client] = useState(makeQueryClient)
  useEffect(followTheme, [])
  useEffect(() => void registerWorker(), [])
  return (
    <QueryClientProvider client={client}>
      <UiRoot>
        <Crash>
          <Gate />
        </Crash>
      </UiRoot>
    </QueryClientProvider>
  )
}
