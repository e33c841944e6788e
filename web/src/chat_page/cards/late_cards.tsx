import { type ComponentProps, lazy, Suspense } from "react"
import { Disclosure } from "../../ui/layout/Disclosure"
import type { ReadFilesCard } from "./ReadFilesCard"
import type { ToolCard } from "./ToolCard"

/** Asked for with the page, so that it is mostly there when the first card is. */
const cards = import("./all_cards")

const Tool = lazy(async () => ({ default: (await cards).ToolCard }))
const ReadFiles = lazy(async () => ({ default: (await cards).ReadFilesCard }))

/** Until then there is a line as high as the card's, so that nothing moves when it comes. */
export function LateToolCard(props: ComponentProps<typeof ToolCard>) {
  return (
    <Suspense fallback={<Disclosure tone="muted" summary={props.call.name} />}>
      <Tool {...props} />
    </Suspense>
  )
}

export function LateReadFilesCard(props: ComponentProps<typeof ReadFilesCard>) {
  return (
    <Suspense fallback={<Disclosure tone="muted" summary={props.reads.calls[0]?.name} />}>
      <ReadFiles {...props} />
    </Suspense>
  )
}
