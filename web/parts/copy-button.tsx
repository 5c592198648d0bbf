import { useState } from 'preact/hooks';
import { words } from '../words/thread.ts';

/** Copies a text, and says so for a moment. */
export function CopyButton({ text }: { readonly text: () => string }) {
  const [isDone, setDone] = useState(false);
  const copy = async () => {
    // Without https, or where the person said no, there is no clipboard: the text can still be selected.
    const isCopied = await navigator.clipboard?.writeText(text()).then(
      () => true,
      () => false,
    );
    if (!isCopied) return;
    setDone(true);
    setTimeout(() => setDone(false), SHOWN_MS);
  };
  return (
    <button type="button" class="copy" onClick={() => void copy()}>
      {isDone ? words.copied : words.copy}
    </button>
  );
}

const SHOWN_MS = 1_500;
