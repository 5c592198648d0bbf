/** Code with its language and a way to copy it. */
interface Props {
  readonly text: string;
  readonly language: string;
  /** Whether more of it may come. */
  readonly isOpen: boolean;
  /** Counted from 1; absent where the lines have no numbers. */
  readonly firstLine?: number;
}

export function Code({ text }: Props) {
  return (
    <pre class="code-text">
      <code>{text}</code>
    </pre>
  );
}
