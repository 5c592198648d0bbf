/** Markdown as it streams. */
interface Props {
  readonly text: string;
  /** Whether more of it may come. */
  readonly isOpen: boolean;
}

export function Markdown({ text }: Props) {
  return <div class="markdown">{text}</div>;
}
