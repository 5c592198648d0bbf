import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { ModelDialect } from '../../../shared/settings/dialects.ts';
import {
  ModelEntry,
  ModelRole,
  ModelSwitches,
  parseModelTable,
} from '../../../shared/settings/models.ts';

const DOCUMENT = readFileSync(join(import.meta.dirname, '../../../docs/models.md'), 'utf8');

it('the documented table is one, with each dialect', () => {
  const [, example = ''] = /```json\n(.*?)```/s.exec(DOCUMENT) ?? [];
  const dialects = parseModelTable(example).map(({ dialect }) => dialect);
  expect(dialects.sort()).toEqual([...ModelDialect.options].sort());
});

it('every field, role and switch is documented', () => {
  const names = [
    ...Object.keys(ModelEntry.shape),
    ...ModelRole.options,
    ...Object.keys(ModelSwitches.shape),
  ];
  expect(names.filter((name) => !DOCUMENT.includes(`| \`${name}\` `))).toEqual([]);
});
