/** The topic of ntfy that gets the notifications: for a browser without any, and for those who use ntfy's app. */
import { useState } from 'preact/hooks';
import type { NtfyTopic } from '../../client/index.ts';
import { words } from '../words/settings.ts';

interface NtfyProps {
  /** The one that is set. The page does not learn its token. */
  readonly topic: string | undefined;
  readonly onSet: (topic: NtfyTopic) => void;
  readonly onRemove: () => void;
}

export function Ntfy({ topic, onSet, onRemove }: NtfyProps) {
  const [address, setAddress] = useState(topic ?? '');
  const [token, setToken] = useState('');
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        onSet({ topic: address.trim(), ...(token && { token: token.trim() }) });
      }}
    >
      <p class="hint">{words.ntfyLead}</p>
      <input
        aria-label={words.ntfyTopic}
        placeholder="https://ntfy.sh/…"
        value={address}
        autocomplete="off"
        onInput={(event) => setAddress(event.currentTarget.value)}
      />
      <input
        type="password"
        aria-label={words.ntfyToken}
        placeholder={topic === undefined ? words.ntfyToken : words.ntfyTokenStays}
        value={token}
        autocomplete="off"
        onInput={(event) => setToken(event.currentTarget.value)}
      />
      <p class="actions">
        <button type="submit">{words.save}</button>
        {topic !== undefined && (
          <button type="button" onClick={onRemove}>
            {words.ntfyRemove}
          </button>
        )}
      </p>
    </form>
  );
}
