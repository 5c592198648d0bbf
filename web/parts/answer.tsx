import type { ComponentChildren } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { words } from '../words/words.ts';

interface AnswerProps<Value> {
  /** Asks the server. Another function asks again. */
  readonly read: (signal: AbortSignal) => Promise<Value>;
  /** What a person can do if it fails. */
  readonly todo?: ComponentChildren;
  /** `again` asks once more, and shows the present answer meanwhile. */
  children(value: Value, again: () => void): ComponentChildren;
}

/** The server's answer; before it a hint, and without it the reason and a way to try again. */
export function Answer<Value>({ read, todo, children }: AnswerProps<Value>) {
  const [answer, setAnswer] = useState<{ readonly value: Value }>();
  const [problem, setProblem] = useState('');
  const [attempt, setAttempt] = useState(0);
  useEffect(() => {
    const left = new AbortController();
    read(left.signal).then(
      (value) => {
        if (!left.signal.aborted) setAnswer({ value });
      },
      (error: unknown) => {
        if (!left.signal.aborted)
          setProblem(error instanceof Error ? error.message : String(error));
      },
    );
    return () => left.abort();
  }, [read, attempt]);
  const again = () => {
    setProblem('');
    setAttempt((count) => count + 1);
  };
  if (problem) {
    return (
      <div role="alert">
        <p>{problem}</p>
        {todo && <p>{todo}</p>}
        <button type="button" onClick={again}>
          {words.tryAgain}
        </button>
      </div>
    );
  }
  return answer ? children(answer.value, again) : <p class="hint">{words.connecting}</p>;
}
