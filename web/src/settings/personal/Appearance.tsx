import { Monitor, Moon, Sun } from "lucide-react"
import { sendWith, type Theme, theme, useKept } from "../../browser/kept"
import { RadioCards } from "../../ui/inputs/RadioCards"
import { Segmented } from "../../ui/inputs/Segmented"
import { PageTitle, Section } from "../../ui/layout/Page"
import { words } from "../../words/with_settings"

const themes: { value: Theme; icon: typeof Sun }[] = [
  { value: "system", icon: Monitor },
  { value: "light", icon: Sun },
  { value: "dark", icon: Moon },
]

/** What this browser remembers: it takes effect at once, and there is nothing to save. */
export function Appearance() {
  const [chosen, choose] = useKept(theme)
  const [sends, setSends] = useKept(sendWith)
  const text = words.settings.appearance
  return (
    <>
      <PageTitle title={words.settings.pages.appearance} text={text.text} />
      <Section title={words.shell.theme}>
        <Segmented
          label={words.shell.theme}
          value={chosen}
          onChange={choose}
          segments={themes.map(({ value, icon }) => ({ value, icon, label: words.shell.themes[value] }))}
        />
      </Section>
      <Section title={text.sending}>
        <RadioCards
          label={text.sending}
          value={sends}
          onChange={setSends}
          cards={[
            { value: "enter", label: text.enter, text: text.enterText },
            { value: "modifier", label: text.modifier, text: text.modifierText },
          ]}
        />
      </Section>
    </>
  )
}
