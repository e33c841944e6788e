import { lazy, Suspense } from "react"
import type { DiffViewProps } from "../../ui/diff/DiffView"
import { SkeletonLines } from "../../ui/status/Skeleton"

const DiffView = lazy(() => import("../../ui/diff/DiffView").then((module) => ({ default: module.DiffView })))

/** A diff inside of a card. What draws it is loaded when the first one is opened. */
export function CardDiff(props: DiffViewProps) {
  return (
    <Suspense fallback={<SkeletonLines />}>
      <DiffView {...props} />
    </Suspense>
  )
}
