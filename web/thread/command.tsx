/** A command with what it printed. */
import type { TerminalCommandMetadata } from '../../client/index.ts';
import { attentionSentence } from '../../shared/shown/attention.ts';
import { inPlainSight } from '../../shared/text/plain-sight.ts';
import { Output } from '../parts/output.tsx';
import { words } from '../words/thread.ts';
import type { DocumentProps } from './document-props.ts';
import { resultText } from './result-text.ts';

export function Command({ document, isOpen, thread }: DocumentProps) {
  const metadata = document.metadata as Partial<TerminalCommandMetadata>;
  const { command = document.content ?? '', workingDirectory, exitCode, output = '' } = metadata;
  const { process_id: processId } = metadata;
  const { Background } = thread.host;
  const isAsking = document.metadata['approval'] !== undefined;
  const isRunning = isOpen && exitCode === undefined && !metadata.result && !isAsking;
  // A command that was refused or taken back never ran.
  const hasRun = exitCode !== undefined && !(exitCode < 0 && metadata.result);
  return (
    <figure>
      <figcaption>
        <code class="command">{inPlainSight(command)}</code>
        {workingDirectory !== undefined && workingDirectory !== '.' && (
          <span>{workingDirectory}</span>
        )}
        {processId && Background && exitCode === undefined ? (
          <Background thread={thread} processId={processId} />
        ) : (
          isRunning && <span class="running">{words.running}</span>
        )}
        {isAsking && <span class="waits">{words.status['waiting']}</span>}
        {hasRun && <span class={exitCode === 0 ? 'good' : 'bad'}>{words.exit(exitCode)}</span>}
      </figcaption>
      {output !== '' && <Output text={output} isOpen={isRunning} />}
      {metadata.newlyProtected?.map((item) => (
        <p role="alert" key={item.name}>
          {attentionSentence(item)}
        </p>
      ))}
      {metadata.result && <p class="bad">{resultText(metadata.result)}</p>}
    </figure>
  );
}
