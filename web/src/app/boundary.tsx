// A page that fails to draw takes itself down, not the frame around it.

import { Component, type ComponentChildren } from "preact";
import { ErrorNote } from "../ui/note";

interface Props {
  children: ComponentChildren;
}

export class Boundary extends Component<Props, { error: Error | null }> {
  override state = { error: null as Error | null };

  static override getDerivedStateFromError(error: Error): { error: Error } {
    return { error };
  }

  override componentDidCatch(error: Error): void {
    // On the console, with its stack, as it would be without this.
    console.error(error);
  }

  override render(): ComponentChildren {
    const { error } = this.state;
    if (error === null) return this.props.children;
    const told = new Error(
      `The page could not be drawn: ${error.message}. Please report this; loading it again may help.`,
    );
    return (
      <main class="page">
        <ErrorNote error={told} onRetry={() => this.setState({ error: null })} />
      </main>
    );
  }
}
