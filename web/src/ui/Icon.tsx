import type { LucideIcon } from "lucide-react"

/** A picture beside a word, or in a button that has a name: never read aloud. */
export function Icon({ of: Drawing, size = 16, className }: { of: LucideIcon; size?: 12 | 16 | 20; className?: string | undefined }) {
  return <Drawing aria-hidden size={size} strokeWidth={1.75} className={className} />
}
