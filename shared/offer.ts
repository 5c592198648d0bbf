/** Tools that a bridge offers beside the built-in ones: definitions as data, in sets that are told as a whole. */
import * as z from 'zod';
import { OFFER_LIMITS } from './limits.ts';
import { Effect } from './modes.ts';

/** SHA-256 in hexadecimal. */
const Digest = z.string().regex(/^[0-9a-f]{64}$/);

/** No built-in tool begins like that, so that a request can name an offer before anybody knows which there are. */
const NAME = /^mcp_[A-Za-z0-9_-]{1,60}$/;

/** Whether a tool of this name can only be an offer. */
export function isOfferName(name: string): boolean {
  return NAME.test(name);
}

/** JSON Schema of a call's arguments. */
const InputSchema = z
  .record(z.string(), z.unknown())
  .refine((schema) => schema['type'] === 'object', { error: 'its type must be "object"' });

/** A tool of a server that the owner of the bridge has listed, in the server's own words. */
export const OfferDefinition = z.object({
  name: z.string().regex(NAME),
  title: z.string().max(OFFER_LIMITS.maxTitleChars).optional(),
  description: z.string(),
  inputSchema: InputSchema,
  effect: Effect,
  idempotent: z.boolean(),
  /** No other document: what a server says that it has changed is its word alone. */
  document: z.object({ type: z.literal('tool_call') }),
  origin: z.object({
    server: z.string().regex(/^[A-Za-z0-9._-]{1,64}$/),
    tool: z.string().regex(/^[A-Za-z0-9._/-]{1,128}$/),
  }),
});
export type OfferDefinition = z.infer<typeof OfferDefinition>;

/**
 * An offer as it is told to the edge. `effect` and `idempotent` are what the bridge stands for: `execute` and false
 * unless its owner trusts the server's word.
 */
export const Offer = OfferDefinition.extend({
  /** Of the definition in the server's words. A call carries it, so that it never means another definition. */
  digest: Digest,
});
export type Offer = z.infer<typeof Offer>;

/** All that a bridge offers at one time. */
export const OfferSet = z.object({
  /** Of everything in the set: two sets with the same digest are the same. */
  digest: Digest,
  /** In the order in which the model is told of them. */
  offers: z
    .array(Offer)
    .max(OFFER_LIMITS.maxOffers)
    .refine((offers) => charsOf(offers) <= OFFER_LIMITS.maxChars, { error: 'they are too large' }),
  /** Tools that are there and cannot be offered, with the reason in one sentence. */
  unavailable: z
    .array(
      z.object({
        name: z.string().regex(NAME),
        reason: z.string().max(OFFER_LIMITS.maxReasonChars),
      }),
    )
    .max(OFFER_LIMITS.maxUnavailable),
});
export type OfferSet = z.infer<typeof OfferSet>;

/** What offers take in a frame and in a row, in UTF-16 units. */
export function charsOf(offers: readonly Offer[]): number {
  return JSON.stringify(offers).length;
}
