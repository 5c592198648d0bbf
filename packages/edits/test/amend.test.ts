import { expect, it } from 'vitest';
import { TOOL_LIMITS } from '../../../shared/limits.ts';
import { amendEdit } from '../amend.ts';
import { EDIT_LIMITS } from '../limits.ts';

const name = 'a.txt';

function amend(before: string | null, proposed: string, content: string) {
  const bytes = before === null ? null : Buffer.from(before);
  return amendEdit({ name, bytes, proposed: Buffer.from(proposed), content });
}

it('writes the person’s text as it is, with the byte order mark that the file has', () => {
  const { bytes, diff } = amend('\uFEFFone\r\n', '\uFEFFuno\r\n', '\uFEFFeins\n');
  expect(Buffer.from(bytes ?? []).toString()).toBe('\uFEFFeins\n');
  expect(diff).toMatchObject({ oldString: 'one\r', newString: 'eins' });
});

it('takes an emptied file, and one that stays as it was', () => {
  expect(amend('one\n', 'two\n', '').bytes).toEqual(new Uint8Array());
  const { bytes, data } = amend('one\n', 'two\n', 'one\n');
  expect(bytes).toBeNull();
  expect(data).toContain('-two\n+one');
});

it('says nothing of a change where there is none', () => {
  const { data } = amend(null, 'two\n', 'two\n');
  expect(data).toBe('Created a.txt (1 line).');
});

it('does not show a difference that is too long', () => {
  const long = 'x'.repeat(EDIT_LIMITS.maxDiffChars);
  expect(amend('one\n', 'two\n', long).data).toContain('too much has changed to be shown');
});

it('refuses what is no text, and what is too large', () => {
  expect(() => amend('one\n', 'two\n', 'a\0b')).toThrow('binary');
  expect(() => amend('one\n', 'two\n', 'a\uD800b')).toThrow('half of a character');
  const large = 'x'.repeat(TOOL_LIMITS.maxFileBytes + 1);
  expect(() => amend('one\n', 'two\n', large)).toThrow('more than the');
});
