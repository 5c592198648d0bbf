/** What the check of an edit by TypeScript adds, with the server in the sandbox, as the bridge starts it. */
import { readFileSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { confinedServers } from '../../bridge/diagnostics/confined.ts';
import { EditChecks } from '../../bridge/diagnostics/edit-checks.ts';
import { DIAGNOSTICS_LIMITS } from '../../bridge/diagnostics/limits.ts';
import { probeConfinement } from '../../bridge/sandbox/proof/confine.ts';
import { Workspace } from '../../bridge/workspace/workspace.ts';
import { giveAway, openTemporaryFolder } from '../folder.ts';
import { median, percentile } from '../statistics.ts';
import { type Part, timeOf } from './part.ts';
import { installTypeScript, sourceName, writeSources } from './sources.ts';

const FILES = 300;
const EDITS = 60;
const WARM_UPS = 5;
const ADDED = `check of an edit by TypeScript, ${FILES} files`;

export const measureDiagnostics: Part = async (_, signal) => {
  using folder = openTemporaryFolder();
  const root = join(folder.path, 'workspace');
  writeSources(root, FILES);
  installTypeScript(root);
  giveAway(folder.path);
  using confinement = await probeConfinement({
    workspace: root,
    home: homedir(),
    closedFolders: [],
    maskFolder: join(folder.path, 'masks'),
    environment: { PATH: process.env['PATH'] },
  });
  if (confinement.kind === 'none') {
    process.stderr.write(`diagnostics: skipped, without a sandbox: ${confinement.detail}\n`);
    return [timeOf(ADDED, null, 150)];
  }
  const stateDir = join(folder.path, 'state');
  const servers = confinedServers({ root, confinement, stateDir, isDistrusted: () => false });
  try {
    const path = join(root, sourceName(0));
    const first = { path, texts: [readFileSync(path, 'utf8')] as const };
    const startedMs = performance.now();
    await servers.look(first, DIAGNOSTICS_LIMITS.maxReadMs, signal);
    const coldMs = performance.now() - startedMs;
    const checks = new EditChecks(servers);
    const workspace = await Workspace.open(root);
    const addedMs: number[] = [];
    for (let index = 0; index < WARM_UPS + EDITS; index++) {
      addedMs.push(await checkEdit(checks, workspace, index, signal));
    }
    const warmMs = addedMs.slice(WARM_UPS);
    return [
      timeOf('the first check, with the start of TypeScript', coldMs),
      timeOf(`${ADDED}, warm: median`, median(warmMs)),
      timeOf(`${ADDED}, warm: p95`, percentile(warmMs, 0.95), 150),
    ];
  } finally {
    await servers.end();
  }
};

/** Another file and another text each time. Writes the edit after its check, as the tool does. */
async function checkEdit(
  checks: EditChecks,
  workspace: Workspace,
  index: number,
  signal: AbortSignal,
): Promise<number> {
  const name = sourceName((index * 4) % FILES);
  const path = join(workspace.root, name);
  const before = readFileSync(path, 'utf8');
  const after = before.replace(
    '  return total;\n}\n',
    `  const more: number = total * ${index};\n  return more;\n}\n\nexport const added${index} = '${name}';\n`,
  );
  const edit = { conversationId: 'conv', path, name, before, after, workspace };
  const startedMs = performance.now();
  const { metadata } = await checks.check(edit, signal);
  const tookMs = performance.now() - startedMs;
  if (metadata.not_checked) throw new Error(`An edit was not checked: ${metadata.not_checked}`);
  writeFileSync(path, after);
  return tookMs;
}
