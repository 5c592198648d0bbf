/** The folders of this machine that agents write to: the state of each bridge notes its own. */
import { readdir, rm } from 'node:fs/promises';
import { homedir } from 'node:os';
import { basename, dirname, isAbsolute, join } from 'node:path';
import * as z from 'zod';
import { parseJson } from '../shared/text/json.ts';
import { readIfThere, replaceFile } from './private-files.ts';

const Note = z.object({ folder: z.string().refine(isAbsolute) });

/** `folder` is a real path. The note stays until a person disconnects the folder. */
export function noteFolder(stateDir: string, folder: string): void {
  replaceFile(noteIn(stateDir), JSON.stringify({ folder }));
}

/** False where the state has no note of the folder. */
export async function forgetFolder(stateDir: string, folder: string): Promise<boolean> {
  const [noted] = await readNote(stateDir);
  if (noted === folder) await rm(noteIn(stateDir), { force: true });
  return noted === folder;
}

/** Of all bridges whose state lies beside this one or in the usual place of this user's. */
export async function agentFolders(stateDir: string): Promise<readonly string[]> {
  const { XDG_STATE_HOME } = process.env;
  const usual =
    XDG_STATE_HOME && isAbsolute(XDG_STATE_HOME) ? XDG_STATE_HOME : join(homedir(), '.local/state');
  const beside = dirname(stateDir);
  const parents = [
    ...(basename(beside) === 'projects' ? [beside] : []),
    join(usual, 'drawbridge'),
    join(usual, 'drawbridge/server/projects'),
  ];
  const states = await Promise.all(
    parents.map(async (parent) => {
      const names = await readdir(parent).catch(() => []); // No state has ever been there.
      return names.map((name) => join(parent, name));
    }),
  );
  const folders = await Promise.all([stateDir, ...states.flat()].map(readNote));
  return [...new Set(folders.flat())];
}

/** None for a note that cannot be read: the bridge of that state writes it again when it starts. */
async function readNote(stateDir: string): Promise<readonly string[]> {
  try {
    const text = await readIfThere(noteIn(stateDir));
    return text === undefined ? [] : [Note.parse(parseJson(text)).folder];
  } catch {
    return [];
  }
}

function noteIn(stateDir: string): string {
  return join(stateDir, 'folder.json');
}
