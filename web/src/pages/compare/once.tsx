// Draws its children again only when one of the named values is another: hundreds of runs on one page are many elements.

import { Component, type ComponentChildren } from "preact";

interface OnceProps {
  readonly on: readonly unknown[];
  readonly children: () => ComponentChildren;
}

export class Once extends Component<OnceProps> {
  override shouldComponentUpdate(next: OnceProps): boolean {
    return next.on.length !== this.props.on.length || next.on.some((one, i) => one !== this.props.on[i]);
  }

  override render(): ComponentChildren {
    return this.props.children();
  }
}
