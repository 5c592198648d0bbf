/** A change to a file: what became of which lines. */
import type { FileEditMetadata } from '../../client/index.ts';
import { Code } from '../parts/code.tsx';
import { DiffRows } from '../parts/diff.tsx';
import { words } from '../words/words.ts';
import type { DocumentProps } from './document-props.ts';
import { resultText } from './result-text.ts';

export function FileEdit({ document, isOpen }: DocumentProps) {
  const metadata = document.metadata as Partial<FileEditMetadata>;
  const { filePath = '', newPath, operation = 'edit', diff, language = '', result } = metadata;
  const hunks = metadata.hunks ?? (diff ? [diff] : []);
  const [added, removed] = [countLines(hunks, 'newString'), countLines(hunks, 'oldString')];
  return (
    <figure>
      <figcaption>
        <span>{result ? words.notApplied : (words.operation[operation] ?? operation)}</span>
        <code>{newPath === undefined ? filePath : `${filePath} → ${newPath}`}</code>
        {hunks.length > 0 && (
          <span class="totals">
            <span class="good">+{added}</span> <span class="bad">−{removed}</span>
          </span>
        )}
      </figcaption>
      {hunks.length > 0 ? (
        <DiffRows hunks={hunks} />
      ) : (
        document.content && <Code text={document.content} language={language} isOpen={isOpen} />
      )}
      {metadata.linter_errors?.map(({ path = filePath, line, column, message }) => (
        <p class="bad" key={`${path}:${line}:${column}${message}`}>
          {path}:{line}:{column} {message}
        </p>
      ))}
      {metadata.checked_by && <p class="hint">{words.checkedBy(metadata.checked_by)}</p>}
      {(metadata.not_checked ?? metadata.not_formatted) && (
        <p class="hint">{metadata.not_checked ?? metadata.not_formatted}</p>
      )}
      {result && <p class="bad">{resultText(result)}</p>}
    </figure>
  );
}

function countLines(
  hunks: readonly { readonly oldString: string; readonly newString: string }[],
  side: 'oldString' | 'newString',
): number {
  const lines = hunks.map((hunk) => (hunk[side] === '' ? 0 : hunk[side].split('\n').length));
  return lines.reduce((sum, count) => sum + count, 0);
}
