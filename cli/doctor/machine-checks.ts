/** Checks of this machine: the program, the settings, the state folder, the clock and the workspace. */
import { execFile } from 'node:child_process';
import { access, constants, stat, statfs } from 'node:fs/promises';
import { homedir, tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { readSettings, type Settings } from '../../local/config/settings.ts';
import { IS_CLONE, OWN_VERSION } from '../../local/own-root.ts';
import { workerdPath } from '../../local/runtime/runtime.ts';
import { locateState, type StateLocation, type StatePlace } from '../../local/state/folder.ts';
import { FORMAT_STEPS, readKnownFormat } from '../../local/state/format.ts';
import { findInstanceIn } from '../../local/state/running.ts';
import { configFolder } from '../../machine/config-folder.ts';
import { loadSqlite, NO_SQLITE } from '../../machine/sqlite.ts';
import { isSystemError } from '../../machine/system-error.ts';
import { MIB } from '../../shared/units.ts';
import { CLI_LIMITS } from '../limits.ts';
import { ownCommand } from '../terminal/own-command.ts';
import { bad, type CheckResult, good, note } from './finding.ts';

const run = promisify(execFile);

/** The version, and whether this machine can run the API's runtime. */
export async function checkProgram(signal: AbortSignal): Promise<CheckResult[]> {
  const { version, platform, arch } = process;
  const kind = IS_CLONE ? 'from a clone' : 'installed';
  const says = `Drawbridge ${OWN_VERSION}, ${kind}, on Node ${version.slice(1)} (${platform}, ${arch})`;
  try {
    const { stdout } = await run(workerdPath(), ['--version'], { signal });
    return [good('program', `${says}, ${stdout.trim()}`), ...checkIndex()];
  } catch (error) {
    const reason = String(Object(error).stderr || Object(error).message).trim();
    const advice =
      'Install again on this machine (npm packages of another system do not run here). workerd needs glibc 2.35 or newer, so Alpine and old systems cannot run it.';
    return [good('program', says), bad('runtime', `workerd does not start: ${reason}`, advice)];
  }
}

/** Without an index `codebase_search` still answers. */
function checkIndex(): CheckResult[] {
  if (loadSqlite()) return [];
  return [note('index', `${NO_SQLITE}: codebase_search reads the files for each search.`)];
}

/** config.json and the environment. Reads no key and runs no command. */
export async function checkSettings(): Promise<CheckResult[]> {
  const settings = await readSettings();
  const { path, text } = settings.source.file;
  const file = path !== undefined && text !== undefined ? path : 'no config.json';
  const found = [good('settings', file), ...noteVectors(settings)];
  if (settings.isModelChosen) return found;
  const advice = `\`${ownCommand('config', 'model')}\` chooses one.`;
  return [...found, note('model', NO_MODEL, advice)];
}

const NO_MODEL =
  'No model is set here: a server that starts from here answers with the built-in demo.';

/** It is the owner's choice, but easily forgotten. */
function noteVectors({ embedding }: Pick<Settings, 'embedding'>): CheckResult[] {
  if (!embedding) return [];
  const { origin } = new URL(embedding.baseUrl);
  const text = `${origin} gets the text of the indexed files, for vectors by ${embedding.model}.`;
  return [note('vectors', text, 'Remove the role "embed" from config.json to send nothing.')];
}

/** Whether the state folder is there, readable for its owner only, of a known format, and on a disk with room. */
export async function checkState(location: StateLocation): Promise<CheckResult[]> {
  const place = await locateState(location);
  const { serverDir } = place;
  const stats = await stat(serverDir).catch((error: unknown) => {
    if (isSystemError(error, 'ENOENT')) return undefined;
    throw error;
  });
  if (!stats) return [await checkAbsentState(serverDir), await checkDisk(serverDir)];
  const findings = [checkMode(serverDir, stats), await checkFormat(serverDir)];
  if (!(await isWritable(serverDir))) {
    findings.push(bad('state', `${serverDir} cannot be written.`, 'Make it writable for you.'));
  }
  return [...findings, await checkDisk(serverDir)];
}

async function checkAbsentState(serverDir: string): Promise<CheckResult> {
  const above = await nearestFolder(serverDir);
  if (await isWritable(above)) return good('state', `will be made at ${serverDir}`);
  const advice = `Make ${above} writable, or give another folder with --state or XDG_STATE_HOME.`;
  return bad('state', `The state folder ${serverDir} cannot be made.`, advice);
}

function checkMode(dir: string, { mode, uid }: { mode: number; uid: number }): CheckResult {
  if (process.getuid && uid !== process.getuid()) {
    return bad('state', `${dir} belongs to another user.`, 'Run as that user, or give --state.');
  }
  if ((mode & 0o077) === 0) return good('state', dir);
  return bad('state', `${dir} is open to other users: it holds keys.`, `chmod 700 ${dir}`);
}

async function checkFormat(dir: string): Promise<CheckResult> {
  const found = (await readKnownFormat(dir))?.format ?? 0;
  if (found === FORMAT_STEPS.length) return good('format', `${found}, of this version`);
  return note('format', `${found}: the next start upgrades the state, and keeps a backup.`);
}

async function checkDisk(dir: string): Promise<CheckResult> {
  const { bavail, bsize } = await statfs(await nearestFolder(dir));
  const free = bavail * bsize;
  const says = `${Math.floor(free / MIB)} MiB free where the state is`;
  if (free >= CLI_LIMITS.muchFreeBytes) return good('disk', says);
  const advice = 'Make room: conversations that cannot be stored are lost.';
  return free >= CLI_LIMITS.littleFreeBytes
    ? note('disk', says, advice)
    : bad('disk', says, advice);
}

/** A clock that is set back makes files come from the future; tokens and deadlines go wrong with it. */
export async function checkClock(
  location: StateLocation,
  releasedOn: string,
  now = Date.now(),
): Promise<CheckResult[]> {
  const time = new Date(now).toISOString();
  if (now < Date.parse(releasedOn)) {
    return [bad('clock', `It shows ${time}, before this version was made.`, SET_CLOCK)];
  }
  const { serverDir } = await locateState(location);
  const written = await Promise.all(
    ['state.json', 'instance.json', 'token', 'logs'].map(async (name) => {
      const found = await stat(join(serverDir, name)).catch(() => undefined);
      return found?.mtimeMs ?? 0;
    }),
  );
  const last = Math.max(...written);
  if (last <= now + CLI_LIMITS.clockSlackMs) return [good('clock', time)];
  const says = `It shows ${time}, but the state was written at ${new Date(last).toISOString()}.`;
  return [bad('clock', says, SET_CLOCK)];
}

/** The advice for every finding about the clock. */
export const SET_CLOCK =
  'Set the clock, best by network time (timedatectl set-ntp true): tokens are checked by it.';

/** What keeps the bridge from working in the folder, and how commands are confined there. */
export async function checkWorkspace(location: StateLocation): Promise<CheckResult[]> {
  const place = await locateState(location);
  const { findObstacles } = await import('../../packages/sandbox/quarantined.ts');
  const { readRules } = await import('../../bridge/admission/rules.ts');
  const { workspaceDir: workspace, projectDir: stateDir } = place;
  const examined = { workspace, stateDir, configDir: configFolder(process.env), readRules };
  const obstacles = await findObstacles(examined, { mayMove: false });
  const advice = `\`${ownCommand('check', '--repair')}\` puts away what it can.`;
  const findings = obstacles.map(({ sentence }) => bad('workspace', sentence, advice));
  if (obstacles.length === 0) findings.push(good('workspace', place.workspaceDir));
  findings.push(...(await checkHooks(place)), ...(await checkBubblewrap()));
  // A running bridge confines commands there already, and two sandboxes cannot share a folder.
  if (await findInstanceIn(place.serverDir)) return findings;
  return [...findings, await checkSandbox(place)];
}

/** Hooks that the owner may believe to run. */
async function checkHooks({ workspaceDir, projectDir }: StatePlace): Promise<CheckResult[]> {
  const { findHooks } = await import('../../bridge/hooks/find.ts');
  const { Workspace } = await import('../../packages/workspace/index.ts');
  const workspace = await Workspace.open(workspaceDir);
  const { hooks, idle, missing, broken } = await findHooks({ workspace, stateDir: projectDir });
  const untrusted = hooks.filter(({ isTrusted }) => !isTrusted).length;
  const says = [
    ...(untrusted > 0 ? [`${untrusted} not trusted yet`] : []),
    ...(missing.length > 0 ? [`${missing.length} changed or removed since you trusted them`] : []),
    ...(idle.length > 0 ? [`${idle.length} not run`] : []),
    ...broken.map(({ source }) => `${source} cannot be read`),
  ].join(', ');
  if (says === '') return hooks.length === 0 ? [] : [good('hooks', `${hooks.length} trusted`)];
  return [note('hooks', `${says}.`, `\`${ownCommand('hooks')}\` lists them.`)];
}

/** A note and not bad: most distributions fix a fault under the version's old number. */
async function checkBubblewrap(): Promise<CheckResult[]> {
  const { findBubblewrap, knownFaultOf } = await import('../../packages/sandbox/index.ts');
  const found = await findBubblewrap();
  const fault = found.ok ? knownFaultOf(found.bubblewrap.version) : undefined;
  if (!found.ok || fault === undefined) return [];
  const { file, version } = found.bubblewrap;
  const advice = `Install 0.12.0 or newer, or see whether your distribution's package has the fix for ${fault}.`;
  return [note('bubblewrap', `${file} is ${version}, older than the fix of ${fault}.`, advice)];
}

async function checkSandbox({ workspaceDir, projectDir }: StatePlace): Promise<CheckResult> {
  const { probeConfinement, readReadable, stateFolders } = await import(
    '../../packages/sandbox/index.ts'
  );
  const confinement = await probeConfinement({
    workspace: workspaceDir,
    home: homedir(),
    closedFolders: await stateFolders(projectDir),
    maskFolder: tmpdir(), // Of the self-test's own command alone.
    readable: await readReadable(projectDir, workspaceDir),
    environment: process.env,
  });
  const { kind, detail } = confinement;
  confinement[Symbol.dispose]();
  if (kind !== 'none') return good('sandbox', detail);
  return note('sandbox', `There is none: each command asks you first. ${detail}`);
}

async function nearestFolder(path: string): Promise<string> {
  const found = await stat(path).catch(() => undefined);
  return found?.isDirectory() || dirname(path) === path ? path : await nearestFolder(dirname(path));
}

async function isWritable(dir: string): Promise<boolean> {
  try {
    await access(dir, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}
