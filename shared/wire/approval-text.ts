/** What a device signs. Without zod at run time: a browser's bundle has it. */
import type { ApprovalQuestion, DeviceKey, Proposal, Scope } from './approvals.ts';

/** How far an approval reaches. The signature covers the grant, so that an edge cannot widen it. */
export interface Grant {
  readonly decision: string;
  readonly scope: string;
  /** One pattern on each line, for a scope beyond `once`. */
  readonly pattern: string | null;
  /** The whole file as the person wants it, or a server's values; absent for the proposal as it is. */
  readonly content?: string | undefined;
}

/** A yes for one call, with or without content. */
export const ALLOW_ONCE: Grant = { decision: 'allow', scope: 'once', pattern: null };

/** What a person may choose of a yes: content of their own, or how far it reaches and for which patterns. */
export interface Choice {
  readonly content?: string | undefined;
  readonly scope?: Scope | undefined;
  readonly pattern?: string | undefined;
}

export function grantOf({ content, scope, pattern }: Choice): Grant {
  return { ...ALLOW_ONCE, content, ...(scope && { scope, pattern: pattern ?? null }) };
}

/** Whether a yes may bring content of its own: a file that stays, or values for a server's question. */
export function takesContent(proposal: Proposal): boolean {
  if (proposal.kind === 'elicitation') return true;
  return proposal.kind === 'edit' && proposal.operation !== 'delete';
}

/** ECDSA on P-256 with SHA-256 (WebCrypto): every browser, Node and workerd support it. */
export const DEVICE_ALGORITHM = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' } as const;

/**
 * The text to sign (its UTF-8 bytes). It contains the proposal itself, not its digest: a device signs what it shows,
 * and an edge that shows something else gains nothing. The nonce binds it to one question, so it counts once.
 */
export function approvalText(question: ApprovalQuestion, grant: Grant = ALLOW_ONCE): string {
  const { bridgeId, nonce, callId, conversationId, proposal } = question;
  const signed = { bridgeId, nonce, callId, conversationId, ...grant, proposal };
  return `drawbridge-approval-v2\n${canonicalJson(signed)}`;
}

/** The text with which a device opens a port of a process, likewise. No approval has a text like it. */
export function portText(opened: {
  readonly bridgeId: string;
  readonly processId: string;
  readonly port: number;
  readonly nonce: string;
}): string {
  return `drawbridge-port-v1\n${canonicalJson(opened)}`;
}

/** The text with which a passkey approves the login of its own browser. Only that browser has the login's secret. */
export function loginText(secret: string): string {
  return `drawbridge-login-v1\n${secret}`;
}

/** What a device sends a MAC of to enrol by a secret. It has the whole key, so that an edge cannot change the key. */
export function enrolmentText(asked: {
  readonly bridgeId: string;
  readonly device: DeviceKey;
}): string {
  return `drawbridge-enrolment-v1\n${canonicalJson(asked)}`;
}

/** JSON with sorted keys, as RFC 8785 orders them: by UTF-16 units. */
export function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`;
  if (value === null || typeof value !== 'object') return JSON.stringify(value) ?? 'null';
  const members = Object.entries(value)
    .filter(([, member]) => member !== undefined)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, member]) => `${JSON.stringify(name)}:${canonicalJson(member)}`);
  return `{${members.join(',')}}`;
}
