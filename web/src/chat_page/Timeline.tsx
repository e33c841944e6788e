import { ArrowDown } from "lucide-react"
import { type ReactNode, type Ref, useCallback, useEffect, useImperativeHandle, useLayoutEffect, useRef, useState } from "react"
import { Virtualizer, type VirtualizerHandle } from "virtua"
import { allRows, type OpenedChat, type Reading, type Timeline as Rows, type TimelineRow } from "../chat"
import { Button } from "../ui/buttons/Button"
import { words } from "../words"
import { isFollowing, type Place } from "./following"
import { messagesOf, placeOfMessage, promptBeside } from "./row_places"
import { TimelineRowView } from "./rows/TimelineRowView"
import css from "./Timeline.module.css"

export interface TimelineHandle {
  toEnd(): void
  /** Brings a message to the middle, and gives its row; null when it is not to be had. */
  show(messageId: number): Promise<Element | null>
  /** Goes on to where something is, in a row that is higher than the window. */
  centre(place: DOMRect): void
  /** To what a person wrote before (-1) or after (1) what is at the top. */
  step(by: 1 | -1): Promise<void>
  log(): Element | null
}

export interface TimelineProps {
  timeline: Rows
  isRead: boolean
  hasOlder: boolean
  older: Reading
  opened: OpenedChat
  isMine: boolean
  /** The message that was linked to. */
  marked: number | null
  /** What is going on, below the last row. */
  below: ReactNode
  ref: Ref<TimelineHandle>
}

const UPWARDS = new Set(["ArrowUp", "PageUp", "Home"])
/** Older messages are asked for this long before the first row is seen. */
const AHEAD = 1200

type Item = TimelineRow | "top"

/** Rows in a window of their own. The reader's place is theirs: it follows the end only while they are there. */
export function Timeline({ timeline, isRead, hasOlder, older, opened, isMine, marked, below, ref }: TimelineProps) {
  const list = useRef<VirtualizerHandle>(null)
  const scroller = useRef<HTMLDivElement>(null)
  const isAtEnd = useRef(true)
  const isHeld = useRef(false)
  const place = useRef<Place>({ offset: 0, size: 0, window: 0 })
  /** Counts where a person wanted to go: what was asked for before, and had to be loaded, is not wanted any more. */
  const wanted = useRef(0)
  const [isAway, setAway] = useState(false)
  const rows = allRows(timeline)
  const items: Item[] = ["top", ...rows]
  const isShift = useIsPrepended(rows)
  const isNewBelow = useNewBelow(rows, isAway)

  // By itself, not by the list: that would go on for a while, and pull back a reader who has gone up meanwhile.
  const follow = useCallback(() => {
    const log = scroller.current
    if (log && isAtEnd.current) log.scrollTop = log.scrollHeight
  }, [])
  const toEnd = useCallback(() => {
    wanted.current += 1
    isAtEnd.current = true
    setAway(false)
    follow()
  }, [follow])
  const leave = (log: Element) => {
    if (log.scrollTop > 0) isAtEnd.current = false
  }
  const latest = useRef(rows)
  latest.current = rows
  useImperativeHandle(
    ref,
    () => {
      const log = () => scroller.current
      const go = async (place: number, align: "start" | "center") => {
        isAtEnd.current = false
        // The first item is what stands above the rows.
        list.current?.scrollToIndex(place + 1, { align })
        // Rows that come into view are measured first, and drawn a picture later.
        await nextPicture()
        await nextPicture()
      }
      return {
        toEnd,
        log,
        async show(messageId) {
          const turn = (wanted.current += 1)
          // What could not be read is said at the top, and may be there all the same.
          if (!(await opened.loadBackTo(messageId))) return opened.store.getState().older.state === "refused" ? log() : null
          await nextPicture() // what was loaded is among the rows by then
          if (turn !== wanted.current) return log()
          await go(placeOfMessage(latest.current, messageId), "center")
          return log()?.querySelector(`[data-message="${messageId}"]`) ?? log()
        },
        centre(place) {
          const at = list.current
          const window = scroller.current?.getBoundingClientRect()
          if (!at || !window) return
          at.scrollBy(place.top + place.height / 2 - (window.top + window.height / 2))
        },
        async step(by) {
          const at = list.current
          if (!at) return
          wanted.current += 1
          const top = at.findItemIndex(at.scrollOffset + 1) - 1
          // Where one has come to is at the top; what is only half seen there is before it.
          const isThere = at.getItemOffset(top + 1) >= at.scrollOffset - 1
          const place = promptBeside(latest.current, by < 0 && !isThere ? top + 1 : top, by)
          if (place >= 0) await go(place, "start")
          else if (by > 0) toEnd()
          else at.scrollTo(0)
        },
      }
    },
    [opened, toEnd],
  )

  useLayoutEffect(follow)

  const needsOlder = useRef(() => undefined as void)
  needsOlder.current = () => {
    const at = list.current
    if (!at || !isRead || !hasOlder || older.state !== "read") return
    // Whoever is at the end gets there only in the next frame; what will be above them is known now.
    const above = isAtEnd.current ? at.scrollSize - at.viewportSize : at.scrollOffset
    if (above < AHEAD) void opened.loadOlder()
  }
  // Also when a page of messages was too short to fill the window.
  useEffect(() => needsOlder.current(), [rows.length, isRead, hasOlder, older.state])

  return (
    <div className={css["frame"]}>
      <div
        ref={scroller}
        className={css["list"]}
        role="log"
        aria-label={words.chat.conversation}
        aria-live="off"
        aria-busy={older.state === "reading"}
        tabIndex={0}
        // The wheel and keys are known before what they do: what grows in between must not undo it.
        onWheel={(event) => {
          if (event.deltaY < 0) leave(event.currentTarget)
        }}
        onKeyDown={(event) => {
          if (UPWARDS.has(event.key) && event.target === event.currentTarget) leave(event.currentTarget)
        }}
        onPointerDown={(event) => {
          if (event.pointerType === "touch") return
          isHeld.current = true
          window.addEventListener("pointerup", () => (isHeld.current = false), { once: true })
        }}
        onTouchStart={() => (isHeld.current = true)}
        onTouchEnd={() => (isHeld.current = false)}
        onTouchCancel={() => (isHeld.current = false)}
      >
        <Virtualizer
          ref={list}
          data={items}
          shift={isShift}
          bufferSize={600}
          // Also what grows without a render of this: an image that has come, code that was coloured, a card that was opened,
          // a composer that takes room. It is told in the same picture, when the rows have their places.
          onResize={follow}
          onScroll={() => {
            const log = scroller.current
            if (!log) return
            const now = { offset: log.scrollTop, size: log.scrollHeight, window: log.clientHeight }
            isAtEnd.current = isFollowing(isAtEnd.current, place.current, now, isHeld.current)
            place.current = now
            setAway(!isAtEnd.current)
            needsOlder.current()
          }}
        >
          {(item: Item) => {
            if (item === "top") return <Top key="top" hasOlder={hasOlder} older={older} onRetry={() => void opened.loadOlder()} />
            return <TimelineRowView key={item.key} row={item} opened={opened} isMine={isMine} isMarked={marked !== null && messagesOf(item).includes(marked)} />
          }}
        </Virtualizer>
        {/* Not a row: the list knows sizes by place, and would take a new last row for as high as what stood there before. */}
        <div ref={useFollowedSize(follow)}>{below}</div>
      </div>
      {isAway && (
        <div className={css["away"]}>
          <Button size="small" icon={ArrowDown} onClick={toEnd}>
            {isNewBelow ? words.chat.newBelow : words.chat.toEnd}
          </Button>
        </div>
      )}
    </div>
  )
}

function nextPicture(): Promise<unknown> {
  return new Promise(requestAnimationFrame)
}

/** Whether something was said since the reader went away from the end. */
function useNewBelow(rows: readonly TimelineRow[], isAway: boolean): boolean {
  const last = rows.at(-1)
  const [seen, setSeen] = useState(last)
  if (!isAway && seen !== last) setSeen(last)
  return isAway && seen !== last
}

/** Whether this render has rows in front of those of the last one. */
function useIsPrepended(rows: readonly TimelineRow[]): boolean {
  const before = useRef<{ first: string | undefined; count: number }>({ first: undefined, count: 0 })
  const first = rows[0]?.key
  const known = before.current
  const isPrepended = known.first !== undefined && first !== known.first && rows.length > known.count
  useLayoutEffect(() => {
    before.current = { first, count: rows.length }
  })
  return isPrepended
}

/** For what changes without a render of the timeline: a countdown whose words need another line, a window that a composer makes lower. */
function useFollowedSize(changed: () => void): (element: HTMLDivElement) => () => void {
  return useCallback(
    (element) => {
      const observer = new ResizeObserver(changed)
      observer.observe(element)
      if (element.parentElement) observer.observe(element.parentElement)
      return () => observer.disconnect()
    },
    [changed],
  )
}

function Top({ hasOlder, older, onRetry }: { hasOlder: boolean; older: Reading; onRetry: () => void }) {
  if (older.state === "refused") {
    return (
      <div className={css["top"]} role="alert">
        {words.chat.olderFailed}{" "}
        <Button size="small" onClick={onRetry}>
          {words.common.tryAgain}
        </Button>
      </div>
    )
  }
  return <div className={css["top"]}>{hasOlder ? words.chat.loadingOlder : null}</div>
}
