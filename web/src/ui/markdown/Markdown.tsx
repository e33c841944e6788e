import { memo, useRef } from "react"
import { classes } from "../classes"
import { type Blocks, blocksOf } from "./blocks"
import css from "./Markdown.module.css"
import { MarkdownBlock } from "./MarkdownBlock"

export interface MarkdownProps {
  text: string
  /** More of it may come: what is unfinished is drawn as if it were finished. */
  isStreaming?: boolean | undefined
  /** The level of its outermost headings, below those of the page. */
  headingLevel?: 2 | 3 | 4 | 5 | undefined
  /** small: beside the conversation, as thoughts and summaries are. */
  size?: "normal" | "small" | undefined
}

/** What a model or a person has written. */
export const Markdown = memo(function Markdown({ text, isStreaming = false, headingLevel = 3, size = "normal" }: MarkdownProps) {
  const before = useRef<Blocks>(undefined)
  // A cache, not state: the same text gives the same blocks, whatever was there before.
  const { blocks, definitions } = (before.current = blocksOf(text, before.current))
  return (
    <div className={classes(css["markdown"], size === "small" && css["small"])}>
      {blocks.map((block, place) => (
        <MarkdownBlock
          key={place}
          raw={block.raw}
          definitions={block.raw.includes("[") ? definitions : ""}
          headingLevel={block.level === null ? null : headingLevel + block.level - 1}
          isUnfinished={isStreaming && place === blocks.length - 1}
        />
      ))}
    </div>
  )
})
