import { toast } from "../ui/floating/toast"
import { words } from "../words"

/** For buttons outside of forms: says what did not work, and answers whether it did. */
export async function attempted(what: string, act: () => Promise<unknown>): Promise<boolean> {
  try {
    await act()
    return true
  } catch (failure) {
    toast(words.common.failed(what), { kind: "error", text: failure instanceof Error ? failure.message : undefined })
    return false
  }
}
