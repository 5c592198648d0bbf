/** How long the text of new conversations is kept. */
import { useEffect, useState } from 'preact/hooks';
import type { PageAccount } from '../store/account.ts';
import { words } from '../words/settings.ts';

/** Hours after the last answer. */
const CHOICES = [0, 1, 24, 168];

export function Privacy({ account: { client } }: { readonly account: PageAccount }) {
  const [hours, setHours] = useState<number | null>();
  useEffect(() => {
    client.getMe().then(
      (me) => setHours(me.deleteAfterHours),
      () => undefined, // The stream says what is wrong with the server.
    );
  }, [client]);
  if (hours === undefined) return null;
  const choices = hours === null || CHOICES.includes(hours) ? CHOICES : [...CHOICES, hours];
  const choose = async (value: string) => {
    const me = await client.updateMe({ deleteAfterHours: value === '' ? null : Number(value) });
    setHours(me.deleteAfterHours);
  };
  return (
    <>
      <h2>{words.privacy}</h2>
      <label>
        {words.privacyLead}{' '}
        <select value={hours ?? ''} onChange={(event) => void choose(event.currentTarget.value)}>
          <option value="">{words.never}</option>
          {choices.map((count) => (
            <option key={count} value={count}>
              {words.hours(count)}
            </option>
          ))}
        </select>
      </label>
    </>
  );
}
