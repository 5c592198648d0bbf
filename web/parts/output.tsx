/** What a command prints: its colours, the last lines first where it is long. */
interface Props {
  readonly text: string;
  /** Whether more of it may come. */
  readonly isOpen: boolean;
}

export function Output({ text }: Props) {
  return <pre class="output">{text}</pre>;
}
