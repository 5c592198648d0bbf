import { expect, it } from 'vitest';
import { plain } from '../../../../cli/terminal/paint.ts';
import { Field } from '../../../../cli/tui/dialogs/field.ts';

function pasted(text: string): Field {
  const field = new Field('', plain);
  field.handleKey(`\x1b[200~${text}\x1b[201~`);
  return field;
}

it('takes pasted text as one line without anything that steers a terminal', () => {
  const field = pasted('one\r\ntwo\tthree\x1b[2J\x07\u202efour');
  expect(field.value).toBe('one two three␛[2J␇\ufffdfour');
  expect(field.render(60).join('')).not.toMatch(/\u202e/);
});

it('shows the whole text where the line does not, and characters that no font shows', () => {
  expect(pasted('short').render(40)).toHaveLength(1);
  const [, ...whole] = pasted(`${'long words '.repeat(8)}end`).render(40);
  expect(whole.join('').replaceAll('↳ ', '')).toBe(`${'long words '.repeat(8)}end`);
  expect(pasted('a\u200bb').render(40)[1]).toBe('a\\u{200b}b');
});

it('begins with a value as it is, and writes on behind it', () => {
  const field = new Field('npm  test', plain);
  field.handleKey('!');
  expect(field.value).toBe('npm  test!');
});
