import { Component, type ReactNode } from "react"

interface FallbackProps {
  children: ReactNode
  /** In place of what has failed. */
  instead: ReactNode
}

/** A card that can't draw what it was given leaves its place to a plainer one. */
export class Fallback extends Component<FallbackProps, { hasFailed: boolean }> {
  override state = { hasFailed: false }

  static getDerivedStateFromError() {
    return { hasFailed: true }
  }

  override render() {
    return this.state.hasFailed ? this.props.instead : this.props.children
  }
}
