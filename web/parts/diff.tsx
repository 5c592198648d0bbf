/** Changed lines with their numbers. */
import type { Diff } from '../../shared/wire/documents.ts';

interface Props {
  readonly hunks: readonly Diff[];
}

export function DiffRows({ hunks }: Props) {
  return <pre class="diff">{hunks.map(({ newString }) => newString).join('\n')}</pre>;
}
