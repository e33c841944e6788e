/** Custom properties may be given in `style`: they go through the CSSOM, which the policy allows. */
import "react"

declare module "react" {
  interface CSSProperties {
    [name: `--${string}`]: string | number | undefined
  }
}
