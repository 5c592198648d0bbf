/** Opens what a bridge stands on: its folder, its journal, its sandbox, and the word of its owner. */
import { realpath } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { rgPath } from '@vscode/ripgrep';
import { noteFolder } from '../machine/agent-folders.ts';
import { isBelow } from '../machine/byte-path.ts';
import { LocalError } from '../machine/local-error.ts';
import { currentCall, logEvent } from '../machine/log.ts';
import { PROGRAM_FOLDERS } from '../machine/programs.ts';
import { Offers } from '../packages/host/index.ts';
import {
  Egress,
  enteredFolder,
  ProcessBook,
  probeConfinement,
  protectedIn,
  readReadable,
  removeMasks,
  stateFolders,
  WorkspaceGuard,
} from '../packages/sandbox/index.ts';
import { Workspace } from '../packages/workspace/index.ts';
import { Distrust } from './admission/distrust.ts';
import { OwnersWord } from './admission/owners-word.ts';
import { idleRules, ownersFiles, readOwnersRules } from './admission/rules.ts';
import type { BridgeConfig } from './config.ts';
import type { BridgeGround } from './feature.ts';
import { Audit } from './grantees/audit.ts';
import { Grantees } from './grantees/grantees.ts';
import { Journal } from './tunnel/journal.ts';

/** What the bridge itself needs beside its features. */
export interface OpenGround extends Omit<BridgeGround, 'cancel'> {
  readonly bootId: string;
  readonly journal: Journal;
  readonly grantees: Grantees;
}

/**
 * Does the work on opened ground, and closes it after. All that the work began must have ended by then.
 * @throws {LocalError} for a folder that cannot be opened, and where another bridge has this state.
 */
export async function onGround(
  config: BridgeConfig,
  signal: AbortSignal,
  work: (ground: OpenGround) => Promise<void>,
): Promise<void> {
  const { stateDir, environment, configDir, preset, offers = new Offers() } = config;
  const readable = await readReadable(stateDir, config.workspaceDir);
  const workspace = await Workspace.open(config.workspaceDir, {
    closedPaths: [stateDir],
    openedPaths: readable,
  });
  const { root } = workspace;
  await requireForeignFiles(root, config.programs ?? []);
  const bootId = crypto.randomUUID();
  // The journal comes first: its lock keeps other bridges off this state. The guard comes before the sandbox: it finds
  // what a killed bridge's commands made, which would otherwise count as the person's.
  using journal = Journal.open(join(stateDir, 'journal.jsonl'), bootId);
  noteFolder(stateDir, root);
  const guard = await WorkspaceGuard.open({
    workspace: root,
    stateDir,
    listProtected: protectedIn(root),
    report: (message) => logEvent({ event: 'attention_needed', ...currentCall(), message }),
  });
  const maskFolder = enteredFolder(stateDir, 'masks');
  removeMasks(maskFolder);
  using confinement = await probeConfinement({
    workspace: root,
    home: homedir(),
    closedFolders: await stateFolders(stateDir),
    maskFolder,
    cacheFolder: enteredFolder(stateDir, 'caches'),
    readable,
    environment,
  });
  if (confinement.nameless) workspace.keepClosed(confinement.nameless);
  await logIdleRules(config);
  const grantees = new Grantees(stateDir);
  const isForeign = (path: string) => guard.isForeign(path);
  const opensHosts = confinement.openDoor !== undefined;
  const owner = new OwnersWord(
    { root, stateDir, configDir, preset, isForeign, workspace },
    {
      isConfined: confinement.kind !== 'none',
      opensHosts,
      distrust: new Distrust(stateDir),
      grantOf: grantees.grantOf,
    },
  );
  const egress = opensHosts ? new Egress(owner.judgeConnections()) : undefined;
  const parts = { workspace, journal, guard, confinement, egress, offers, owner, grantees };
  const book = new ProcessBook();
  try {
    await work({ config, bootId, ...parts, book, audit: new Audit(stateDir), signal });
  } finally {
    await guard.close();
  }
}

/**
 * Commands write to the workspace, and so do file tools. The bridge runs outside the sandbox whatever lies at the place
 * of its own modules and programs. `root` is a real path; `others` are programs that are started again from their files.
 * @throws {LocalError} if one of them lies in the workspace.
 */
async function requireForeignFiles(root: string, others: readonly string[]): Promise<void> {
  const files = [fileURLToPath(import.meta.url), rgPath, ...others, ...PROGRAM_FOLDERS];
  for (const file of files) {
    const real = await realpath(file).catch(() => file);
    if (real !== root && !isBelow(root, real)) continue;
    throw new LocalError(
      'refused',
      `Drawbridge runs ${real} in the workspace ${root}, where the agent could change it: open another folder, or ` +
        'install Drawbridge outside of this one. If no copy of it could be made, set DRAWBRIDGE_PROGRAMS to a folder ' +
        'outside that only you may write to.',
    );
  }
}

/** A broken file is reported with the first call that it stops. */
async function logIdleRules({ configDir, stateDir }: BridgeConfig): Promise<void> {
  const rules = await readOwnersRules(ownersFiles(stateDir, configDir)).catch(() => undefined);
  for (const message of rules ? idleRules(rules) : [])
    logEvent({ event: 'rule_without_effect', message });
}
