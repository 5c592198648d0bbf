/** A change to a file, line by line. */
import { useMemo } from 'preact/hooks';
import type { FileEditMetadata } from '../../client/index.ts';
import { countChanged } from '../../shared/shown/diff-rows.ts';
import { nameInLine } from '../../shared/text/plain-sight.ts';
import { Code } from '../parts/code.tsx';
import { DiffRows } from '../parts/diff.tsx';
import { words } from '../words/thread.ts';
import type { DocumentProps } from './document-props.ts';
import { resultText } from './result-text.ts';

export function FileEdit({ document, isOpen }: DocumentProps) {
  const metadata = document.metadata as Partial<FileEditMetadata>;
  const { filePath = '', newPath, operation = 'edit', diff, language = '', result } = metadata;
  const hunks = metadata.hunks ?? (diff ? [diff] : []);
  const isDone = !isOpen && document.metadata['approval'] === undefined;
  const done = isDone ? words.operation : words.operationOpen;
  const { added, removed } = useMemo(() => countChanged(hunks), [metadata.hunks, diff]);
  return (
    <figure>
      <figcaption>
        <span>{result ? words.notApplied : (done[operation] ?? operation)}</span>
        <code>
          {[filePath, newPath]
            .filter((path) => path !== undefined)
            .map(nameInLine)
            .join(' → ')}
        </code>
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
      {metadata.not_checked && (
        <p class="hint">
          {words.notChecked} {metadata.not_checked}
        </p>
      )}
      {metadata.not_formatted && <p class="hint">{metadata.not_formatted}</p>}
      {result && <p class="bad">{resultText(result)}</p>}
    </figure>
  );
}
