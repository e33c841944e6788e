import { useEffect, useState } from "react"
import css from "./Formula.module.css"
import type { mathMarkup } from "./formula_markup"

type Draw = typeof mathMarkup

/** Kept for all formulas: once it is there, the next ones are drawn at once. */
let drawing: Draw | null = null
let loading: Promise<Draw> | null = null

async function load(): Promise<Draw | null> {
  try {
    loading ??= import("./formula_markup").then(({ mathMarkup }) => (drawing = mathMarkup))
    return await loading
  } catch {
    loading = null
    return null
  }
}

/** Shows the source until the drawing is there, and when it can't be drawn. */
export function Formula({ tex, isBlock }: { tex: string; isBlock: boolean }) {
  const [draw, setDraw] = useState<Draw | null>(() => drawing)
  useEffect(() => {
    let isGone = false
    if (draw === null) void load().then((loaded) => !isGone && setDraw(() => loaded))
    return () => {
      isGone = true
    }
  }, [draw])
  const markup = draw?.(tex, isBlock) ?? null
  const className = css[isBlock ? "block" : "inline"]
  if (markup === null) return <code className={className}>{tex}</code>
  // MathML that KaTeX has written from TeX, with every text escaped: the one markup that is not ours.
  return <span className={className} dangerouslySetInnerHTML={{ __html: markup }} />
}
