import { useEffect, useMemo, useRef, useState } from "react"
import type { coloured } from "./lexers"
import { type Line, plainLines } from "./tones"

export type Colour = typeof coloured

let colouring: Colour | null = null
let loading: Promise<Colour> | null = null

/** Beyond this, colours cost more than they say. */
const most = 200_000

/** Without them (no connection) code stays plain; the next that is shown asks again. */
async function load(): Promise<Colour | null> {
  try {
    loading ??= import("./lexers").then((lexers) => (colouring = lexers.coloured))
    return await loading
  } catch {
    loading = null
    return null
  }
}

/** The lexers, once they are there; asking for them loads them. */
export function useLexers(isWanted: boolean): Colour | null {
  const [colour, setColour] = useState<Colour | null>(() => colouring)
  useEffect(() => {
    let isGone = false
    if (isWanted && colour === null) void load().then((loaded) => !isGone && setColour(() => loaded))
    return () => {
      isGone = true
    }
  }, [colour, isWanted])
  return colour
}

interface Start {
  code: string
  lines: Line[]
  language: string | undefined
  colour: Colour | null
}

/** Lines whose colours stay for now, and those that came since. */
export interface Stream {
  settled: readonly Line[]
  coming: readonly Line[]
}

/**
 * Code in colour; plain until the lexers have come, and where the language is unknown. Of code that is still coming, the
 * beginning is coloured again when it has grown by a quarter, so that the cost stays in proportion to the length.
 */
export function useColouredStream(code: string, language: string | undefined, isStreaming: boolean): Stream {
  const colour = useLexers(language !== undefined)
  const start = useRef<Start | null>(null)
  return useMemo(() => {
    if (!isStreaming) return { settled: lines(colour, code, language), coming: [] }
    const known = start.current
    const isUsable = known !== null && known.colour === colour && known.language === language && code.startsWith(known.code)
    if (!isUsable || code.length > known.code.length * 1.25 + 200) {
      const complete = code.slice(0, code.lastIndexOf("\n") + 1)
      start.current = { code: complete, lines: lines(colour, complete, language).slice(0, -1), language, colour }
    }
    const begun = start.current
    return begun ? { settled: begun.lines, coming: plainLines(code.slice(begun.code.length)) } : { settled: [], coming: plainLines(code) }
  }, [colour, code, language, isStreaming])
}

function lines(colour: Colour | null, code: string, language: string | undefined): Line[] {
  if (colour === null || language === undefined || code.length > most) return plainLines(code)
  return colour(code, language.toLowerCase()) ?? plainLines(code)
}
