/** The limits of what is sent to an OTLP endpoint. */
import { SECOND } from '../../shared/units.ts';

export const TAIL_LIMITS = {
  /** Spans of one request: those of a long run in one call of its object. */
  maxSpans: 500,
  /** How long the endpoint may take. */
  sendMs: 10 * SECOND,
} as const;
