/** `me/usage`: what the account's responses have spent. */
import type * as z from 'zod';
import { dayOf, UsageEntry, UsageList, UsageQuery } from '../../shared/api/usage.ts';
import { DrawbridgeError } from '../../shared/errors.ts';
import { USAGE_LIMITS } from '../../shared/limits.ts';
import { DAY } from '../../shared/units.ts';
import { badCursor } from '../account/cursor.ts';
import { parse } from '../desk/parse.ts';
import { describePage, describeQuery, type Endpoint, jsonAnswer } from '../endpoint.ts';
import { accountOf } from '../objects.ts';
import type { UsageRange } from '../ports/account.ts';
import { reach } from '../reach.ts';

const USAGE_QUERY = describeQuery({
  schema: UsageQuery,
  described: {
    from: {
      description: `The first day (UTC). By default the list ends with \`to\` and has ${USAGE_LIMITS.days} days.`,
      schema: { type: 'string', format: 'date' },
    },
    to: {
      description: `The last day (UTC). By default today. A list has at most ${USAGE_LIMITS.maxDays} days.`,
      schema: { type: 'string', format: 'date' },
    },
    ...describePage('entries', USAGE_LIMITS.maxPage, USAGE_LIMITS.maxPage),
  },
});

/** The endpoints of this file. */
export const USAGE: readonly Endpoint[] = [
  {
    id: 'listUsage',
    needs: 'read',
    method: 'get',
    path: '/api/v1/me/usage',
    tag: 'Account',
    summary: 'List what was spent',
    description:
      'The tokens and costs of all ended responses, by day and model, the oldest day first. Each response counts once, also those that are not listed or were deleted.',
    access: 'user',
    query: USAGE_QUERY,
    answers: [jsonAnswer(200, 'A page of the list.', UsageList)],
    errors: ['INVALID_CURSOR'],
    handle: async (c) => {
      const range = rangeOf(parse(UsageQuery, c.req.query()), Date.now());
      const read = () => accountOf(c.env, c.var.caller.sub).usage(range);
      const { items, hasMore } = await reach<{ items: UsageEntry[]; hasMore: boolean }>(read);
      const last = hasMore ? items.at(-1) : undefined;
      const { from, to } = range;
      const nextCursor = last ? cursorOf(last) : null;
      return c.json({ from, to, items, nextCursor } satisfies UsageList);
    },
  },
];

/** @throws {DrawbridgeError} INVALID_REQUEST for days in the wrong order or too many, INVALID_CURSOR. */
function rangeOf({ from, to, limit, cursor }: UsageQuery, nowMs: number): UsageRange {
  const last = to ?? dayOf(nowMs);
  const first = from ?? dayOf(Date.parse(last) - (USAGE_LIMITS.days - 1) * DAY);
  const days = (Date.parse(last) - Date.parse(first)) / DAY + 1;
  if (days < 1) throw badDays(`from: ${first} is later than to (${last})`);
  if (days > USAGE_LIMITS.maxDays) {
    throw badDays(`from: a list has at most ${USAGE_LIMITS.maxDays} days, and these are ${days}`);
  }
  return { from: first, to: last, limit, after: cursor === undefined ? null : placeOf(cursor) };
}

function badDays(message: string): DrawbridgeError {
  return new DrawbridgeError('INVALID_REQUEST', message);
}

/** A day, which has a fixed length, and a model. */
function cursorOf({ day, model }: UsageEntry): string {
  return `${day} ${model}`;
}

function placeOf(cursor: string): z.output<typeof Place> {
  const [, day, model] = /^(\S+) (.*)$/s.exec(cursor) ?? [];
  const place = Place.safeParse({ day, model });
  if (place.success) return place.data;
  throw badCursor();
}

const Place = UsageEntry.pick({ day: true, model: true });
