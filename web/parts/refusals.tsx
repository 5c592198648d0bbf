/** Why the server refused what a person asked for, wherever no other part shows it. */
import { useLayoutEffect, useState } from 'preact/hooks';
import { words } from '../words/words.ts';

/** `first` is what it shows before that. Shows the message of each error that a request ended with and that nothing has caught. */
export function Refusals({ first }: { readonly first: string }) {
  const [message, setMessage] = useState(first);
  useLayoutEffect(() => {
    const left = new AbortController();
    const show = (event: PromiseRejectionEvent) => {
      if (!isRefusal(event.reason)) return; // A fault of the page is for its console.
      event.preventDefault();
      setMessage(event.reason.message);
    };
    addEventListener('unhandledrejection', show, left);
    return () => left.abort();
  }, []);
  if (message === '') return null;
  return (
    <p role="alert" class="refusal">
      {message}{' '}
      <button type="button" onClick={() => setMessage('')}>
        {words.close}
      </button>
    </p>
  );
}

function isRefusal(reason: unknown): reason is Error {
  return reason instanceof Error && SAID.has(reason.name);
}

/** Errors whose message is for the person. */
const SAID: ReadonlySet<string> = new Set(['ClientError', 'PasskeyRefusal']);
