/** Takes back what an answer changed in files: first shown, then done to exactly what was shown. */
import { useEffect, useState } from 'preact/hooks';
import type { ChatResponse } from '../../client/index.ts';
import { foldEvent, newResponse } from '../../client/index.ts';
import type { UndoReport } from '../../shared/wire/undo.ts';
import { Markdown } from '../parts/markdown.tsx';
import type { Thread } from '../store/thread.ts';
import { words } from '../words/thread.ts';

interface UndoProps {
  readonly response: ChatResponse;
  readonly thread: Thread;
  close(): void;
}

export function Undo({ response, thread, close }: UndoProps) {
  const [preview, setPreview] = useState<ChatResponse>();
  const [problem, setProblem] = useState('');
  const { client, run } = thread.host;
  useEffect(() => {
    const left = new AbortController();
    const read = async () => {
      const scope = { scope: 'response', id: response.id, preview: true } as const;
      let shown: ChatResponse | undefined;
      for await (const { event } of client.undo(thread.id, scope, { signal: left.signal })) {
        if (event.type === 'response_start') shown = newResponse(event.response);
        else if (shown) foldEvent(shown, event);
      }
      setPreview(shown);
    };
    read().catch((error: unknown) => {
      if (!left.signal.aborted) setProblem(String(error instanceof Error ? error.message : error));
    });
    return () => left.abort();
  }, [client, thread.id, response.id]);
  const report = reportOf(preview);
  const undo = async () => {
    close();
    const scope = { scope: 'response', id: response.id, digest: report?.digest } as const;
    for await (const _ of client.undo(thread.id, scope)) break; // The thread follows the answer.
  };
  if (problem) return <p role="alert">{problem}</p>;
  if (!preview) return <p class="hint">{words.connecting}</p>;
  if (!report?.files.length) return <p class="hint">{words.undoNothing}</p>;
  return (
    <div class="undo">
      <p>{words.undoLead}</p>
      <Markdown text={preview.documents.at(-1)?.content ?? ''} isOpen={false} />
      <p class="actions">
        <button type="button" onClick={() => run(undo)}>
          {words.undoNow}
        </button>
        <button type="button" onClick={close}>
          {words.cancel}
        </button>
      </p>
    </div>
  );
}

/** What becomes of each file. */
export function Report({ report }: { readonly report: UndoReport }) {
  return (
    <ul>
      {report.files.map(({ path, action, reason }) => (
        <li key={path}>
          {action} <code>{path}</code> {reason}
        </li>
      ))}
    </ul>
  );
}

/** The report of a preview. Its last document has the differences. */
function reportOf(preview: ChatResponse | undefined): UndoReport | undefined {
  const [first] = preview?.documents ?? [];
  return first?.metadata['undo'] as UndoReport | undefined;
}
