/** `drawbridge uninstall`: ends what runs, and says what is left on the machine. */
import { existsSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import type { Command } from 'commander';
import { INSTALLED_ROOT, IS_CLONE } from '../../local/own-root.ts';
import { serverDirsOfUser, stateFoldersOfUser } from '../../local/state/folder.ts';
import { configFolder } from '../../machine/config-folder.ts';
import { nameInLine } from '../../shared/text/plain-sight.ts';
import { stopServer } from '../server/stop.ts';
import { askFirst } from '../terminal/confirm.ts';
import { openTerminal, type Terminal } from '../terminal/terminal.ts';
import { findManager, isInstalled, remove } from './manager.ts';

interface UninstallOptions {
  readonly purge: boolean;
}

export function registerUninstall(program: Command): void {
  program
    .command('uninstall')
    .description('Stop the servers and the service, and list what is left on the machine')
    .option('--purge', 'also delete all conversations, keys and settings, after a question', false)
    .action(uninstall);
}

async function uninstall({ purge }: UninstallOptions): Promise<void> {
  const terminal = openTerminal(process, process.env);
  const kept = await keptFolders();
  if (purge && kept.length > 0) await confirmPurge(terminal, kept);
  if (HAS_SERVICE.has(process.platform) && isInstalled(findManager())) {
    await remove(findManager());
    terminal.write('Removed the service.\n');
  }
  for (const dir of await serverDirsOfUser()) {
    if (await stopServer(dir)) terminal.write(`Stopped the server: ${nameInLine(dir)}\n`);
  }
  if (purge) for (const { path } of kept) await rm(path, { recursive: true, force: true });
  for (const { path, holds } of purge ? [] : kept) {
    terminal.write(`Left: ${nameInLine(path)} (${holds}). \`--purge\` deletes it.\n`);
  }
  terminal.write('Left: servers and folders of a `--state` elsewhere.\n');
  terminal.write('Left: `.drawbridge/` in your projects, with rules that belong to them.\n');
  terminal.write(`Left: the program. ${removal()}\n`);
}

const HAS_SERVICE: ReadonlySet<string> = new Set(['linux', 'darwin']);

async function keptFolders(): Promise<{ path: string; holds: string }[]> {
  const config = configFolder(process.env);
  const states = await stateFoldersOfUser();
  return [
    ...states.map((path) => ({ path, holds: 'conversations, keys, logs' })),
    ...(config ? [{ path: config, holds: 'settings' }] : []),
  ].filter(({ path }) => existsSync(path));
}

async function confirmPurge(
  terminal: Terminal,
  kept: readonly { readonly path: string }[],
): Promise<void> {
  const paths = kept.map(({ path }) => nameInLine(path)).join(' and ');
  await askFirst(terminal, `Delete ${paths}, with all conversations and keys?`, {
    unasked: `delete ${paths} by hand.`,
    otherwise: 'Nothing was deleted or stopped.',
  });
}

function removal(): string {
  if (IS_CLONE) return `Delete the clone: ${nameInLine(INSTALLED_ROOT)}`;
  return '`npm uninstall -g drawbridge-agent` removes it, if npm installed it globally.';
}
