/** Tools that servers of this machine's owner offer: holds them, and describes them to the edge. */

import { ToolFailure } from '../../machine/failure.ts';
import { sha256 } from '../../machine/hash.ts';
import { logTrouble } from '../../machine/log.ts';
import { OFFER_LIMITS } from '../../shared/limits.ts';
import { parseJson } from '../../shared/text/json.ts';
import { type SchemaCheck, schemaCheck, UnusableSchema } from '../../shared/text/json-schema.ts';
import { JSON_LIMITS } from '../../shared/text/limits.ts';
import { offered } from '../../shared/tools/toolbox.ts';
import { canonicalJson } from '../../shared/wire/approval-text.ts';
import type { Metadata } from '../../shared/wire/documents.ts';
import {
  charsOf,
  type Instructions,
  type Offer,
  OfferDefinition,
  type OfferSet,
} from '../../shared/wire/offer.ts';
import type { BridgeTool, ToolExecutor, ToolFactsHere } from './tool.ts';

/** A tool of a server, with the way to call it. */
export interface OfferedTool {
  readonly definition: OfferDefinition;
  /** Takes arguments that the definition's schema has accepted. */
  readonly call: ToolExecutor<Metadata>;
}

/** The tools offered at this moment. Servers come and go while the bridge runs. */
export class Offers {
  readonly #listeners = new Set<() => void>();
  #entries: ReadonlyMap<string, OfferEntry> = new Map();
  #instructions: readonly Instructions[] = [];

  /**
   * Replaces all earlier offers. Of two tools with one name the first one counts. `instructions` are what the servers say
   * of their tools as a whole; long texts are cut.
   */
  replace(tools: readonly OfferedTool[], instructions: readonly Instructions[] = []): void {
    const entries = new Map<string, OfferEntry>();
    for (const tool of tools) {
      const parsed = OfferDefinition.safeParse(tool.definition);
      const name = tool.definition.name;
      if (!parsed.success) logRefused(name, parsed.error.message);
      else if (entries.has(name)) logRefused(name, `${name} is there twice`);
      else entries.set(name, bindOffer(parsed.data, tool.call));
    }
    this.#entries = entries;
    this.#instructions = instructions.slice(0, OFFER_LIMITS.maxServers).map(cutText);
    for (const listener of this.#listeners) listener();
  }

  get isEmpty(): boolean {
    return this.#entries.size === 0;
  }

  find(name: string): BridgeTool | undefined {
    return this.#entries.get(name)?.tool;
  }

  /** Calls the listener after each {@link replace}. */
  onChange(listener: () => void): void {
    this.#listeners.add(listener);
  }

  /**
   * The set for the edge; null where nothing is offered. `isTrusted`: the owner believes the server's claims.
   */
  set(isTrusted: (tool: ToolFactsHere) => boolean): OfferSet | null {
    if (this.isEmpty) return null;
    const offers: Offer[] = [];
    const unavailable: OfferSet['unavailable'] = [];
    let chars = 0;
    for (const [name, { tool, offer }] of this.#entries) {
      const sent = isTrusted(tool.definition) ? offer : { ...offer, ...UNTRUSTED };
      const length = charsOf([sent]);
      const reason = whyNot(sent, { count: offers.length, chars: chars + length });
      if (reason !== null) unavailable.push({ name, reason });
      else {
        offers.push(sent);
        chars += length;
      }
    }
    const set = {
      offers,
      unavailable: unavailable.slice(0, OFFER_LIMITS.maxUnavailable),
      ...(this.#instructions.length > 0 && { instructions: [...this.#instructions] }),
    };
    return { digest: sha256(canonicalJson(set)), ...set };
  }
}

function logRefused(tool: string, why: string): void {
  logTrouble({ event: 'offer_refused', tool }, 'A tool cannot be offered', why);
}

function cutText({ server, text }: Instructions): Instructions {
  return { server, text: text.slice(0, OFFER_LIMITS.maxInstructionsChars).toWellFormed() };
}

interface OfferEntry {
  readonly tool: BridgeTool;
  /** The offer with the server's own claims. */
  readonly offer: Offer;
}

/** The facts about a tool whose server is not believed: it may do anything, and a second run may do harm. */
const UNTRUSTED = { effect: 'execute', idempotent: false } as const;

function bindOffer(definition: OfferDefinition, call: ToolExecutor<Metadata>): OfferEntry {
  const { name, effect, idempotent, origin } = definition;
  const offer = { ...definition, digest: sha256(canonicalJson(definition)) };
  const { read, toFunction: _, subjects, ...facts } = offered(offer);
  const check = schemaCheck(definition.inputSchema);
  const claims = { digest: offer.digest, effect, idempotent };
  const proposed = { server: origin.server, tool: origin.tool, definition: offer.digest };
  return {
    offer,
    tool: {
      definition: { ...facts, ...UNTRUSTED, claims },
      read: (given) => {
        const result = read(given);
        if (!result.isValid) throw new ToolFailure('INVALID_ARGUMENTS', result.problem);
        const { args } = result;
        const problem = problemOf(name, args, check);
        if (problem !== null) throw new ToolFailure('INVALID_ARGUMENTS', problem);
        const proposal = { kind: 'call', tool: name, arguments: args, offer: proposed } as const;
        const propose = async () => ({ proposal, apply: call.bind(null, args) });
        return { args, subjects: subjects(args), paths: ['.'], propose };
      },
    },
  };
}

/** What is wrong with the arguments, as a sentence for the model; null for arguments that fit. */
function problemOf(name: string, args: Metadata, check: SchemaCheck): string | null {
  try {
    const problem = check(args);
    return problem && `Invalid arguments for ${name}: ${problem}`;
  } catch (error) {
    if (!(error instanceof UnusableSchema)) throw error;
    return `${name} cannot be called: the JSON Schema of its arguments cannot be applied.`;
  }
}

/** Why an offer cannot go to the edge, as a sentence; null where it can. */
function whyNot(
  { inputSchema }: Offer,
  { count, chars }: { readonly count: number; readonly chars: number },
): string | null {
  const { maxTools, maxOffered, maxOffers, maxChars } = OFFER_LIMITS;
  if (count >= maxOffered) {
    return `A model takes ${maxTools} tools, and the bridge offers ${maxOffered} already: list fewer servers, or leave out tools with "excludeTools".`;
  }
  if (chars > maxChars - maxOffers) {
    return `The definitions of what the bridge offers take ${maxChars} characters already: list fewer servers, or leave out tools with "excludeTools".`;
  }
  try {
    parseJson(JSON.stringify(inputSchema), JSON_LIMITS.maxDepth - SET_DEPTH);
    return null;
  } catch {
    return 'The JSON Schema of its arguments nests too deeply.';
  }
}

/** Levels of a frame around a schema: the frame, the set, its list, the offer. */
const SET_DEPTH = 4;
