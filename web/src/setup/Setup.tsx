import { useQuery } from "@tanstack/react-query"
import { useEffect, useRef } from "react"
import { Redirect, useLocation } from "wouter"
import { queries } from "../api/queries"
import { request } from "../api/request"
import { newKey } from "../api/new_key"
import type { User } from "../api/schema"
import { words } from "../words/with_setup"
import { AccountStep } from "./AccountStep"
import { Brand } from "./Brand"
import css from "./entry.module.css"
import { FirstMessage } from "./FirstMessage"
import { ModelStep } from "./ModelStep"

type Step = "account" | "model" | "first"

const order: readonly Step[] = ["account", "model", "first"]
const modelPath = "/setup/model"
const firstPath = "/setup/first"

interface SetupProps {
  /** The admin who is signed in; nobody while there is no account. */
  me: User | undefined
  /** The account is made, and its session begun. */
  onSignedIn: () => Promise<void>
}

/**
 * From an empty server to a first answer: an account, a model, a message. The address has the step, so that Back goes one back
 * and a reload goes on. The account's address is replaced: there is nothing to go back to.
 */
export function Setup({ me, onSignedIn }: SetupProps) {
  const [path, navigate] = useLocation()
  const last = useRef({ text: "", key: "" })
  const models = useQuery({ ...queries.models, enabled: me !== undefined })
  const step = stepAt(path, me)
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
    navigate(`/chats/${chat.id}`, { replace: true })
  }

  if (step === "first" && models.data && !models.data.some((model) => model.enabled)) return <Redirect to={modelPath} replace />
  const leave = () => navigate("/")
  return (
    <main className={css["page"]}>
      <div className={`${css["card"]} ${css["wide"]}`}>
        <Brand />
        <div>
          <p className={css["note"]} role="status">
            {words.setup.step(order.indexOf(step) + 1, order.length)}
          </p>
          <h1 className={css["title"]}>{words.setup[step].title}</h1>
        </div>
        <p className={css["text"]}>{words.setup[step].text}</p>
        {step === "account" && (
          <AccountStep
            onDone={async () => {
              navigate(modelPath, { replace: true })
              await onSignedIn()
            }}
          />
        )}
        {step === "model" && models.data && <ModelStep models={models.data} onDone={() => navigate(firstPath)} onLater={leave} />}
        {step === "first" && <FirstMessage onSend={send} onSkip={leave} />}
      </div>
    </main>
  )
}

function stepAt(path: string, me: User | undefined): Step {
  if (!me) return "account"
  return path === firstPath ? "first" : "model"
}
