/** Says in one line what is wrong with a configuration. */
import type * as z from 'zod';
import { formatPath } from '../../shared/errors.ts';
import { nameInLine } from '../../shared/plain-sight.ts';
import { dottedFields, fieldsAt } from './json-schema.ts';

/** The first problem: `server.prot: there is no such setting. Did you mean server.port?` Never shows a value. */
export function describeProblem({ issues }: z.ZodError): string {
  const [issue] = issues;
  if (!issue) return 'it does not have the right form';
  if (issue.code === 'unrecognized_keys') return describeUnknown(issue.path, issue.keys[0] ?? '');
  const place = formatPath(issue.path);
  return `${place === '' ? '' : `${place}: `}${issue.message}`;
}

/** Names the nearest setting that there is, else those at the same place. */
export function describeUnknown(path: readonly PropertyKey[], key: string): string {
  const place = formatPath([...path, key]);
  const siblings = fieldsAt(path).filter((name) => name !== '$schema');
  const sibling = nearest(key, siblings);
  const other = dottedFields().find((name) => plain(name.split('.').at(-1) ?? '') === plain(key));
  const meant = sibling === undefined ? other : formatPath([...path, sibling]);
  const advice =
    meant === undefined
      ? `The settings here are ${siblings.join(', ')}.`
      : `Did you mean ${meant}?`;
  return `${nameInLine(place)}: there is no such setting. ${advice}`;
}

/** Names from other programs and from the environment. */
const OTHER_NAMES: Readonly<Record<string, string>> = {
  ...{ apikey: 'key', keyname: 'key', openaiapikey: 'key' },
  ...{ url: 'baseUrl', endpoint: 'baseUrl', openaibaseurl: 'baseUrl' },
  ...{ openaimodel: 'model', defaultmodel: 'model', defaultmode: 'mode' },
};

function nearest(key: string, names: readonly string[]): string | undefined {
  const known = OTHER_NAMES[plain(key)];
  if (known !== undefined && names.includes(known)) return known;
  const ranked = names
    .map((name) => ({ name, distance: editDistance(plain(key), plain(name)) }))
    .sort((a, b) => a.distance - b.distance);
  const [best] = ranked;
  return best && best.distance <= Math.max(1, best.name.length / 3) ? best.name : undefined;
}

function plain(name: string): string {
  return name
    .toLowerCase()
    .replaceAll(/[^a-z0-9]/g, '')
    .slice(0, 40);
}

/** How many letters must be added, removed, changed or exchanged with their neighbour (optimal string alignment). */
function editDistance(a: string, b: string): number {
  const rows: number[][] = [Array.from({ length: b.length + 1 }, (_, column) => column)];
  const at = (row: number, column: number) => rows[row]?.[column] ?? Infinity;
  for (let row = 1; row <= a.length; row++) {
    const line = [row];
    rows.push(line);
    for (let column = 1; column <= b.length; column++) {
      const isSame = a[row - 1] === b[column - 1];
      const isSwap = a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1];
      line[column] = Math.min(
        at(row - 1, column) + 1,
        at(row, column - 1) + 1,
        at(row - 1, column - 1) + (isSame ? 0 : 1),
        isSwap ? at(row - 2, column - 2) + 1 : Infinity,
      );
    }
  }
  return at(a.length, b.length);
}
