/** Any other tool: what it was asked for, and folded what it answered. */
import type { SubagentState, ToolOutcome } from '../../client/index.ts';
import { inPlainSight } from '../../shared/text/plain-sight.ts';
import type { ResultImage } from '../../shared/wire/documents.ts';
import type { UndoReport } from '../../shared/wire/undo.ts';
import { Output } from '../parts/output.tsx';
import { words } from '../words/thread.ts';
import { type DocumentProps, textIn } from './document-props.ts';
import { resultText } from './result-text.ts';
import { Report } from './undo.tsx';

interface CallMetadata {
  readonly arguments?: Readonly<Record<string, unknown>>;
  readonly result?: ToolOutcome;
  readonly images?: readonly ResultImage[];
  readonly undo?: UndoReport;
  readonly subagent?: SubagentState;
}

export function ToolCall({ document: { metadata }, isOpen, thread }: DocumentProps) {
  const { arguments: given = {}, result, images = [], undo, subagent } = metadata as CallMetadata;
  const isAsking = metadata['approval'] !== undefined || metadata['asks'] !== undefined;
  const { Subagent } = thread.host;
  const [first] = Object.values(given).filter((value) => typeof value === 'string');
  return (
    <>
      <details>
        <summary>
          <span class={result?.status === 'error' ? 'bad' : ''}>
            {textIn(metadata, 'toolName')}
          </span>
          {first !== undefined && <code>{inPlainSight(String(first))}</code>}
          {isOpen && !result && (
            <span class={isAsking ? 'waits' : 'running'}>
              {isAsking ? words.status['waiting'] : words.running}
            </span>
          )}
        </summary>
        <pre>{JSON.stringify(given, null, 2)}</pre>
        {result && <Output text={resultText(result)} isOpen={false} />}
      </details>
      {undo && <Report report={undo} />}
      {subagent && (
        <p class="subagent">
          {words.subagent} <Subagent subagent={subagent} />
        </p>
      )}
      {images.map(({ mimeType, data }) => (
        <img key={data} alt="" src={`data:${mimeType};base64,${data}`} />
      ))}
    </>
  );
}
