/** The bridge of one workspace: opens what it needs, runs it, and ends it without leaving a process. */
import { realpath } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { rgPath } from '@vscode/ripgrep';
import { noteFolder } from '../machine/agent-folders.ts';
import { LocalError } from '../machine/local-error.ts';
import type { Preset } from '../shared/wire/preset.ts';
import {
  createConnectionJudge,
  createJudge,
  readFindable,
  readPageRules,
  readShowable,
} from './admission/judge.ts';
import { AnsweredRules } from './admission/lasting.ts';
import { idleRules, ownersFiles, readOwnersRules } from './admission/rules.ts';
import { Checkpoints } from './checkpoints/checkpoints.ts';
import { computeFor } from './compute/owner.ts';
import { confinedServers } from './diagnostics/confined.ts';
import { Egress } from './egress/egress.ts';
import { Formatters } from './formatting/formatters.ts';
import { Grantees } from './grantees/grantees.ts';
import { findHooks, type HookPlace } from './hooks/find.ts';
import { Distrust } from './ide/link/distrust.ts';
import { currentCall, logEvent } from './log.ts';
import { type PartsConfig, RunningBridge } from './parts.ts';
import { WorkspaceGuard } from './quarantine/guard.ts';
import { protectedIn } from './quarantine/listing.ts';
import { isBelow } from './sandbox/byte-path.ts';
import { PROGRAM_FOLDERS } from './sandbox/programs.ts';
import { probeConfinement } from './sandbox/proof/confine.ts';
import { removeMasks } from './sandbox/view/masks.ts';
import { enteredFolder, readReadable, stateFolders } from './sandbox/view/owners-choice.ts';
import { placesOf } from './skills/places.ts';
import { Skills } from './skills/skills.ts';
import { ProcessBook } from './terminal/process-book.ts';
import { createActivateSkill } from './tools/activate-skill.ts';
import type { BridgeTool } from './tools/executor.ts';
import { Offers } from './tools/offers.ts';
import { undoTools } from './tools/undo.ts';
import { createWebFetch, type WebFetching } from './tools/web-fetch.ts';
import { createWebSearch } from './tools/web-search.ts';
import { Journal } from './tunnel/journal.ts';
import type { Net } from './web/page.ts';
import type { SearchService } from './web/search.ts';
import { AllowedSites } from './web/sites.ts';
import { Workspace } from './workspace/workspace.ts';
import { Worktrees } from './worktrees/worktrees.ts';

export interface BridgeConfig extends PartsConfig {
  readonly workspaceDir: string;
  /** The owner's preset for projects without one of their own. Default: `workspace`. */
  readonly preset?: Preset;
  /** Tools beside the built-in ones. The tools of the owner's MCP servers are added to them. */
  readonly offers?: Offers;
  /** The owner's search service. Without one the bridge has no web_search. */
  readonly webSearch?: SearchService | undefined;
  /** How web_fetch reaches the web; another one in tests. */
  readonly net?: Net;
  /** Programs beside the bridge's own that are started again from their files: the Node of a server. */
  readonly programs?: readonly string[];
}

/** Runs until the signal aborts, or until the server refuses the bridge for good. `onStatus` gets a refusal. */
export async function runBridge(config: BridgeConfig, signal: AbortSignal): Promise<void> {
  // All that it begins from here on computes in turns with the bridges of other folders in this process.
  await computeFor(config.bridgeId, () => runFor(config, signal));
}

async function runFor(config: BridgeConfig, signal: AbortSignal): Promise<void> {
  const { stateDir, environment } = config;
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
  await logUntrustedHooks({ workspace, stateDir });
  const checkpoints = Checkpoints.open(stateDir);
  const undoing = checkpoints ? undoTools(checkpoints) : new Map<string, BridgeTool>();
  const { offers = new Offers(), configDir, preset } = config;
  const isForeign = (path: string) => guard.isForeign(path);
  const surroundings = { root, stateDir, configDir, preset, isForeign, workspace };
  const distrust = new Distrust(stateDir);
  const isDistrusted = () => distrust.isKept;
  const sites = new AllowedSites();
  const answered = new AnsweredRules();
  const grantees = new Grantees(stateDir);
  const trust = {
    isConfined: confinement.kind !== 'none',
    opensHosts: confinement.openDoor !== undefined,
    isDistrusted,
    isSiteAllowed: (conversationId: string, site: string) => sites.has(conversationId, site),
    answeredIn: (conversationId: string) => answered.of(conversationId),
    grantOf: grantees.grantOf,
  };
  const egress = trust.opensHosts
    ? new Egress(createConnectionJudge(surroundings, trust))
    : undefined;
  const readRules = (conversationId: string) => readPageRules(surroundings, trust, conversationId);
  const skills = new Skills(workspace, placesOf(configDir));
  const readSkillPolicy = () => readFindable(surroundings, isDistrusted);
  const activate = createActivateSkill({ skills, readShowable: readSkillPolicy });
  const web = newWebTools(config, { sites, readRules }).set(activate.definition.name, activate);
  const book = new ProcessBook();
  const worktrees = await Worktrees.open({
    root,
    book,
    stateDir,
    confinement,
    egress,
    isForeign,
    findElsewhere: (name) => undoing.get(name) ?? web.get(name) ?? offers.find(name),
    serversOf: (folder, held) =>
      confinedServers({ root: folder, confinement: held, stateDir, isDistrusted }),
    formattersOf: (folder, held) =>
      new Formatters({ root: folder, confinement: held, stateDir, isDistrusted }),
    judgeIn: (folder) => createJudge(surroundings, { ...trust, folder }),
    readShowable: () => readShowable(surroundings),
  });
  const opened = { workspace, journal, guard, confinement, checkpoints, offers, worktrees };
  const ground = {
    config,
    bootId,
    ...opened,
    egress,
    book,
    surroundings,
    trust,
    distrust,
    web,
    skills,
    undoing,
    answered,
    grantees,
  };
  const bridge = new RunningBridge(ground, signal);
  try {
    await bridge.serve(signal);
  } finally {
    await bridge.end();
    checkpoints?.end();
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

/** The tools that reach the web, by their names: web_search only with a service. */
function newWebTools(
  { net, webSearch }: BridgeConfig,
  fetching: Omit<WebFetching, 'net'>,
): Map<string, BridgeTool> {
  const search = webSearch ? [createWebSearch(webSearch)] : [];
  const tools = [createWebFetch({ ...fetching, net }), ...search];
  return new Map(tools.map((tool) => [tool.definition.name, tool]));
}

/** A broken file is reported with the first call that it stops. */
async function logIdleRules({ configDir, stateDir }: BridgeConfig): Promise<void> {
  const rules = await readOwnersRules(ownersFiles(stateDir, configDir)).catch(() => undefined);
  for (const message of rules ? idleRules(rules) : [])
    logEvent({ event: 'rule_without_effect', message });
}

/** Hooks that the owner may believe to run. A file that cannot be read is reported with the first call. */
async function logUntrustedHooks(place: HookPlace): Promise<void> {
  const found = await findHooks(place).catch(() => undefined);
  const count = found?.hooks.filter(({ isTrusted }) => !isTrusted).length ?? 0;
  const some = count === 1 ? 'A hook does' : `${count} hooks do`;
  const message = `${some} not run before you trust them: \`drawbridge hooks trust\``;
  if (count > 0) logEvent({ event: 'attention_needed', message });
}
