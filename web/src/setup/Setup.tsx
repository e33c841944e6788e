import { useQuery, useQueryClient } from "@tanstack/react-query"
import { useEffect, useRef, useState } from "react"
import { useLocation } from "wouter"
import { queries } from "../api/queries"
import { request } from "../api/request"
import { newKey } from "../api/new_key"
import { words } from "../words/with_setup"
import { AccountStep } from "./AccountStep"
import { Brand } from "./Brand"
import css from "./entry.module.css"
import { FirstMessage } from "./FirstMessage"
import { ModelStep } from "./ModelStep"

type Step = "account" | "model" | "first"

const order: readonly Step[] = ["account", "model", "first"]

/** From an empty server to a first answer: an account, a model, a message. */
export function Setup({ onBegin, onDone }: { onBegin: () => void; onDone: () => void }) {
  const [step, setStep] = useState<Step>("account")
  const [, navigate] = useLocation()
  const client = useQueryClient()
  const last = useRef({ text: "", key: "" })
  const me = useQuery({ ...queries.me, enabled: step !== "account" })
  useEffect(() => {
    document.title = `${words.setup.steps} · ${words.common.name}`
  }, [])

  /** The same message has the same key: asked for again, it makes one chat. */
  async function send(text: string) {
    if (text !== last.current.text) last.current = { text, key: newKey() }
    const chat = await request("POST /api/experimental/chats", {
      body: { content: [{ type: "text", text }], client_type: "ui" },
      idempotencyKey: last.current.key,
    })
    navigate(`/chats/${chat.id}`)
    onDone()
  }

  const place = order.indexOf(step) + 1
  return (
    <main className={css["page"]}>
      <div className={`${css["card"]} ${css["wide"]}`}>
        <Brand />
        <div>
          <p className={css["note"]} role="status">
            {words.setup.step(place, order.length)}
          </p>
          <h1 className={css["title"]}>{words.setup[step].title}</h1>
        </div>
        <p className={css["text"]}>{words.setup[step].text}</p>
        {step === "account" && (
          <AccountStep
            onDone={() => {
              onBegin()
              setStep("model")
              void client.invalidateQueries()
            }}
          />
        )}
        {step === "model" && me.data && <ModelStep onDone={() => setStep("first")} />}
        {step === "first" && <FirstMessage onSend={send} />}
      </div>
    </main>
  )
}
