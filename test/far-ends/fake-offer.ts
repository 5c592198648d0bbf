/** A tool as a server of the owner would offer it. */
import { createHash } from 'node:crypto';
import { canonicalJson } from '../../shared/wire/approval-text.ts';
import type { Offer, OfferDefinition, OfferSet } from '../../shared/wire/offer.ts';

export function fakeDefinition(changes: Partial<OfferDefinition> = {}): OfferDefinition {
  return {
    name: 'mcp_tickets_find',
    title: 'Find tickets',
    description: 'Finds tickets by a word.',
    inputSchema: {
      $schema: 'https://json-schema.org/draft/2020-12/schema',
      type: 'object',
      properties: { word: { type: 'string', minLength: 1 } },
      required: ['word'],
      additionalProperties: false,
    },
    effect: 'read',
    idempotent: true,
    document: { type: 'tool_call' },
    origin: { server: 'tickets', tool: 'find' },
    ...changes,
  };
}

/** As the bridge of an owner who trusts no server sends it. */
export function fakeOffer(changes: Partial<Offer> = {}): Offer {
  const definition = fakeDefinition(changes);
  const digest = digestOf(definition);
  return { ...definition, effect: 'execute', idempotent: false, digest, ...changes };
}

export function fakeSet(
  offers: Offer[] = [fakeOffer()],
  unavailable: OfferSet['unavailable'] = [],
): OfferSet {
  const sent = { offers, unavailable };
  return { digest: digestOf(sent), ...sent };
}

/** SHA-256 over canonical JSON. */
export function digestOf(value: unknown): string {
  return createHash('sha256').update(canonicalJson(value)).digest('hex');
}
