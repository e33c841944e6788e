import { BellRing, Volume2 } from "lucide-react"
import { useState } from "react"
import { request } from "../../api/request"
import { chime, useKept } from "../../browser/kept"
import { play } from "../../browser/chime"
import { Button } from "../../ui/buttons/Button"
import { toast } from "../../ui/floating/toast"
import { Field } from "../../ui/inputs/Field"
import { Switch } from "../../ui/inputs/Switch"
import { PageTitle, Section } from "../../ui/layout/Page"
import { Banner } from "../../ui/status/Banner"
import { SkeletonLines } from "../../ui/status/Skeleton"
import { words } from "../../words/with_settings"
import { type Push, usePush } from "./use_push"

/** How this browser says that a turn has ended. It takes effect at once. */
export function Notifications() {
  const push = usePush()
  const [isHeard, setHeard] = useKept(chime)
  const text = words.settings.notifications
  return (
    <>
      <PageTitle title={words.settings.pages.notifications} text={text.text} />
      <Section title={text.push} text={text.pushText}>
        <PushPart push={push} />
      </Section>
      <Section title={text.sound}>
        <Field layout="row" label={text.chime} hint={text.chimeHint}>
          <Switch isOn={isHeard} onChange={setHeard} />
        </Field>
        <div>
          <Button icon={Volume2} onClick={play}>
            {text.listen}
          </Button>
        </div>
      </Section>
      <Section title={text.what}>
        <ul>
          {text.told.map((one) => (
            <li key={one}>{one}</li>
          ))}
        </ul>
      </Section>
    </>
  )
}

function PushPart({ push }: { push: Push }) {
  const text = words.settings.notifications
  const { state } = push
  if (state === null) return <SkeletonLines count={2} />
  if (state === "unsupported") return <Banner title={text.unsupported} text={text.unsupportedText} isAnnounced={false} />
  if (state === "denied") return <Banner kind="warn" title={text.denied} text={text.deniedText} isAnnounced={false} />
  return (
    <>
      <Field layout="row" label={text.tell} hint={state === "on" ? text.on : text.off} error={push.error && text.failed(push.error.message)}>
        <Switch isOn={state === "on"} onChange={push.set} isDisabled={push.isBusy} />
      </Field>
      {state === "on" && <Trial />}
    </>
  )
}

/** Whether messages get through: the push service may refuse them, and that is seen nowhere else. */
function Trial() {
  const [isSending, setSending] = useState(false)
  const [error, setError] = useState<string | null>(null)
  const text = words.settings.notifications
  async function send() {
    setSending(true)
    setError(null)
    try {
      await request("POST /api/v2/users/{user}/webpush/test", { path: { user: "me" } })
      toast(text.sent, { text: text.sentText })
    } catch (failure) {
      setError((failure as Error).message)
    } finally {
      setSending(false)
    }
  }
  return (
    <>
      {error !== null && <Banner kind="error" title={text.failing} text={error} />}
      <div>
        <Button icon={BellRing} onClick={() => void send()} isBusy={isSending} busyText={text.sending}>
          {text.trial}
        </Button>
      </div>
    </>
  )
}
