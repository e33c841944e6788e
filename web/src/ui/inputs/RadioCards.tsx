import { Radio } from "@base-ui/react/radio"
import { RadioGroup } from "@base-ui/react/radio-group"
import type { ReactNode } from "react"
import { useId } from "react"
import css from "./RadioCards.module.css"

export interface RadioCard<Value extends string> {
  value: Value
  label: ReactNode
  text?: ReactNode
  isDisabled?: boolean | undefined
}

export interface RadioCardsProps<Value extends string> {
  /** What is being chosen. */
  label: string
  cards: readonly RadioCard<Value>[]
  value: Value | null
  onChange: (value: Value) => void
  isDisabled?: boolean | undefined
}

/** A few choices that need a line each to be told apart. */
export function RadioCards<Value extends string>({ label, cards, value, onChange, isDisabled = false }: RadioCardsProps<Value>) {
  return (
    <RadioGroup
      aria-label={label}
      value={value}
      onValueChange={(next: Value | null) => next !== null && onChange(next)}
      disabled={isDisabled}
      className={css["cards"]}
    >
      {cards.map((card) => (
        <Card key={card.value} card={card} />
      ))}
    </RadioGroup>
  )
}

function Card<Value extends string>({ card }: { card: RadioCard<Value> }) {
  const id = useId()
  return (
    <label className={css["card"]}>
      <Radio.Root
        value={card.value}
        disabled={card.isDisabled ?? false}
        className={css["ring"]}
        aria-labelledby={id}
        aria-describedby={card.text ? `${id}-text` : undefined}
      >
        <Radio.Indicator className={css["dot"]} />
      </Radio.Root>
      <span className={css["words"]}>
        <span id={id} className={css["label"]}>
          {card.label}
        </span>
        {card.text && (
          <span id={`${id}-text`} className={css["text"]}>
            {card.text}
          </span>
        )}
      </span>
    </label>
  )
}
