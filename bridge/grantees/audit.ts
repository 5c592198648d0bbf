/** The record of what others did at the bridge, of people's and hooks' answers, and of devices that a secret has enrolled: lines of JSON that are only appended. */
import { appendFileSync, renameSync, statSync } from 'node:fs';
import { join } from 'node:path';
import * as z from 'zod';
import { logTrouble } from '../../machine/log.ts';
import { PRIVATE_FILE, readIfThere } from '../../machine/private-files.ts';
import { parseIfJson } from '../../shared/text/json.ts';
import { Signature } from '../../shared/wire/approvals.ts';
import { GRANTEE_LIMITS } from './limits.ts';

const Time = z.iso.datetime();

/** The end of a call of another account than the owner's. */
const AuditedCall = z.object({
  type: z.literal('call'),
  time: Time,
  account: z.string(),
  conversation: z.string(),
  call: z.string(),
  tool: z.string(),
  /** The beginning of its path or command. Absent for a private conversation. */
  subject: z.string().optional(),
  /** `success`, or the code of its error. */
  outcome: z.string(),
});

/** A person's answer to a question that counted. */
const AuditedAnswer = z.object({
  type: z.literal('answer'),
  time: Time,
  conversation: z.string(),
  call: z.string(),
  tool: z.string(),
  decision: z.enum(['once', 'reject']),
  scope: z.string().optional(),
  /** Where it was given: `device`, `terminal` or `editor`. */
  by: z.string(),
  nonce: z.string(),
  /** The digest of the proposal. Absent for a private conversation. */
  proposal: z.string().optional(),
  /** Of a device, over the proposal (docs/protocol.md). */
  signature: Signature.optional(),
});

/** A device that a one-use secret has enrolled. */
const AuditedEnrolment = z.object({
  type: z.literal('enrolment'),
  time: Time,
  device: z.string(),
  /** The device's own name for itself. */
  label: z.string(),
  /** The command that made the secret. */
  by: z.string(),
});

/** What a hook said of a call. */
const AuditedHook = z.object({
  type: z.literal('hook'),
  time: Time,
  conversation: z.string(),
  call: z.string(),
  tool: z.string(),
  /** The file that has the hook. */
  source: z.string(),
  command: z.string(),
  decision: z.enum(['none', 'ask', 'deny']),
  /** Absent for a private conversation. */
  reason: z.string().optional(),
});

export const AuditRecord = z.discriminatedUnion('type', [
  AuditedCall,
  AuditedAnswer,
  AuditedEnrolment,
  AuditedHook,
]);
export type AuditRecord = z.infer<typeof AuditRecord>;

type Untimed<Record> = Record extends AuditRecord ? Omit<Record, 'time'> : never;

/** Appends the bridge's records. One process at a time writes a bridge's state. */
export class Audit {
  readonly #path: string;
  #hasFailed = false;

  constructor(stateDir: string) {
    this.#path = join(stateDir, FILE);
  }

  /** Never throws. A disk that takes no record is reported once: the calls are judged without it. */
  note(record: Untimed<AuditRecord>): void {
    try {
      const { size } = statSync(this.#path, { throwIfNoEntry: false }) ?? { size: 0 };
      if (size > GRANTEE_LIMITS.maxAuditBytes) renameSync(this.#path, `${this.#path}.1`);
      const line = JSON.stringify({ time: new Date().toISOString(), ...record });
      appendFileSync(this.#path, `${line}\n`, { mode: PRIVATE_FILE });
    } catch (error) {
      if (!this.#hasFailed)
        logTrouble({ event: 'audit_unwritable' }, 'No record was written', error);
      this.#hasFailed = true;
    }
  }
}

/** The kept records, the oldest first. Passes over lines that a crash has cut. */
export async function readAudit(stateDir: string): Promise<AuditRecord[]> {
  const path = join(stateDir, FILE);
  const texts = await Promise.all([`${path}.1`, path].map(readIfThere));
  return texts.flatMap((text = '') =>
    text.split('\n').flatMap((line) => AuditRecord.safeParse(parseIfJson(line)).data ?? []),
  );
}

const FILE = 'audit.jsonl';
