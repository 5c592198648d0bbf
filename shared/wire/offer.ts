/** Tools that a bridge offers in addition to the built-in ones: definitions as data, sent as whole sets. */
import * as z from 'zod';
import { OFFER_LIMITS } from '../limits.ts';
import { Effect } from './modes.ts';

/** SHA-256 in hexadecimal. */
const Digest = z.string().regex(/^[0-9a-f]{64}$/);

/** No built-in tool's name begins this way, so a request can name an offer before the edge knows the set. */
const NAME = /^mcp_[A-Za-z0-9_-]{1,60}$/;

const SERVER = /^[A-Za-z0-9._-]{1,64}$/;

/** Whether only an offer can have this name. */
export function isOfferName(name: string): boolean {
  return NAME.test(name);
}

/** JSON Schema of a call's arguments. */
const InputSchema = z
  .record(z.string(), z.unknown())
  .refine((schema) => schema['type'] === 'object', { error: 'its type must be "object"' });

/** A tool of a server that the bridge's owner has listed, as the server defines it. */
export const OfferDefinition = z.object({
  name: z.string().regex(NAME),
  title: z.string().max(OFFER_LIMITS.maxTitleChars).optional(),
  description: z.string(),
  inputSchema: InputSchema,
  effect: Effect,
  idempotent: z.boolean(),
  /** Only this document type: the bridge cannot check a server's claim that it changed a file. */
  document: z.object({ type: z.literal('tool_call') }),
  origin: z.object({
    server: z.string().regex(SERVER),
    tool: z.string().regex(/^[A-Za-z0-9._/-]{1,128}$/),
  }),
});
export type OfferDefinition = z.infer<typeof OfferDefinition>;

/** What a model reads before a server's own words about a tool. */
export function introductionOf(server: string): string {
  return `A tool of the MCP server "${server}", which describes it so: `;
}

/** The description without the {@link introductionOf} that is for the model. */
export function ownWordsOf({ origin, description }: OfferDefinition): string {
  const introduction = introductionOf(origin.server);
  return description.startsWith(introduction)
    ? description.slice(introduction.length)
    : description;
}

/** An offer at the edge. The bridge vouches for `effect` and `idempotent`, which only a trusted server chooses. */
export const Offer = OfferDefinition.extend({
  /** The digest of the server's definition. A call carries it, so that it never means another definition. */
  digest: Digest,
});
export type Offer = z.infer<typeof Offer>;

/** What a server says of its tools as a whole, in its own words. */
const Instructions = z.object({
  server: z.string().regex(SERVER),
  text: z.string().max(OFFER_LIMITS.maxInstructionsChars),
});
export type Instructions = z.infer<typeof Instructions>;

/** Everything that a bridge offers at one time. */
export const OfferSet = z.object({
  /** The digest of the whole set: two sets with the same digest are equal. */
  digest: Digest,
  /** In the order in which the model gets them. */
  offers: z
    .array(Offer)
    .max(OFFER_LIMITS.maxOffers)
    .refine((offers) => charsOf(offers) <= OFFER_LIMITS.maxChars, { error: 'they are too large' }),
  /** Tools that exist but cannot be offered, with the reason in one sentence. */
  unavailable: z
    .array(
      z.object({
        name: z.string().regex(NAME),
        reason: z.string().max(OFFER_LIMITS.maxReasonChars),
      }),
    )
    .max(OFFER_LIMITS.maxUnavailable),
  /** Of servers that say something, at most one text each. */
  instructions: z.array(Instructions).max(OFFER_LIMITS.maxServers).optional(),
});
export type OfferSet = z.infer<typeof OfferSet>;

/** The size of offers in a frame and in a row, in UTF-16 units. */
export function charsOf(offers: readonly Offer[]): number {
  return JSON.stringify(offers).length;
}
