/** What stood unsent in the composer when the person left a conversation, in a file of the state folder. */
import { join } from 'node:path';
import * as z from 'zod';
import { replaceFile } from '../../../machine/private-files.ts';
import { readStateFile } from '../../../machine/state-file.ts';
import { INPUT_LIMITS } from './limits.ts';

/** By the id of the conversation, the one that was left last at the end. */
const Kept = z.record(z.string(), z.string());

/** The draft of the conversation; empty without one, and where the file cannot be read. */
export async function readDraft(stateDir: string, conversationId: string): Promise<string> {
  return (await readAll(stateDir))[conversationId] ?? '';
}

/** Replaces the draft; an empty text removes it. Never rejects: a lost draft is no reason to disturb the person. */
export async function keepDraft(stateDir: string, id: string, text: string): Promise<void> {
  const { [id]: old = '', ...others } = await readAll(stateDir);
  if (text === old || text.length > INPUT_LIMITS.maxDraftChars) return;
  const kept = Object.entries({ ...others, ...(text !== '' && { [id]: text }) });
  try {
    const newest = Object.fromEntries(kept.slice(-INPUT_LIMITS.maxDrafts));
    replaceFile(join(stateDir, FILE), `${JSON.stringify(newest)}\n`);
  } catch {
    // A full disk, or no folder.
  }
}

const FILE = 'drafts.json';

async function readAll(stateDir: string): Promise<z.infer<typeof Kept>> {
  return (await readStateFile(join(stateDir, FILE), Kept).catch(() => undefined)) ?? {};
}
