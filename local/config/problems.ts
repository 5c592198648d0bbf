/** Says in one line what is wrong with a configuration. */
import type * as z from 'zod';
import { formatPath } from '../../shared/errors.ts';
import { nameInLine } from '../../shared/text/plain-sight.ts';
import { dottedFields, fieldsAt } from './json-schema.ts';
import { nearestName, plainName as plain } from './nearest-name.ts';

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
  apikey: 'key',
  keyname: 'key',
  openaiapikey: 'key',
  url: 'baseUrl',
  endpoint: 'baseUrl',
  openaibaseurl: 'baseUrl',
  openaimodel: 'model',
  defaultmodel: 'model',
  defaultmode: 'mode',
};

function nearest(key: string, names: readonly string[]): string | undefined {
  const known = OTHER_NAMES[plain(key)];
  return known !== undefined && names.includes(known) ? known : nearestName(key, names);
}
