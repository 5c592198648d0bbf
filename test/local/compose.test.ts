import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { SERVER_VARIABLES } from '../../local/settings.ts';

test('compose.yaml passes every variable that a server reads', () => {
  const text = readFileSync(join(import.meta.dirname, '..', '..', 'compose.yaml'), 'utf8');
  const [, list = ''] = /^ {4}environment:\n((?: {6}- \w+\n)+)/m.exec(text) ?? [];
  expect(list.match(/\w+/g)).toEqual(SERVER_VARIABLES);
});
