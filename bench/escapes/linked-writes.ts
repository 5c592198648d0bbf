/** What the bridge's file tools may write after a command: nothing that a person's protected links lead to. */
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ToolFailure } from '../../machine/failure.ts';
import { Workspace } from '../../packages/workspace/index.ts';

/** The person's links, by their names. */
export const LINKS: Readonly<Record<string, string>> = {
  '.github': 'gh',
  '.claude/skills': '../skills',
  '.git/hooks/pre-commit': '../../check',
  '.idea': 'conf/idea',
};

/** What these lead to and no command can move. */
export const LINKED = ['gh/hooks/h.json', 'skills/s.md', 'check'] as const;

/** Whether a command has changed one of them, or a tool would write to one, also by a link of the command's. */
export async function isWrittenBehindLinks(folder: string, mark: string): Promise<boolean> {
  const texts = await Promise.all(
    LINKED.map((name) => readFile(join(folder, name), 'utf8').catch(() => '')),
  );
  if (texts.some((text) => text.includes(mark))) return true;
  const workspace = await Workspace.open(folder);
  const way = existsSync(join(folder, 'way')) ? ['way/h.json'] : [];
  for (const name of [...LINKED, 'gh/hooks/new.json', 'conf/idea/w.xml', ...way]) {
    const isLet = await workspace.resolve(name, 'write').then(
      () => true,
      (error: unknown) => !(error instanceof ToolFailure),
    );
    if (isLet) return true;
  }
  return false;
}
