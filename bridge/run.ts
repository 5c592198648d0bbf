/** The bridge of one workspace: put together, connected, and ended without leaving a process. */
import { homedir } from 'node:os';
import { join } from 'node:path';
import type { DeviceKey } from '../shared/approvals.ts';
import { TUNNEL_LIMITS } from '../shared/limits.ts';
import { takesPath } from '../shared/tools/catalogue.ts';
import { renameArguments, subjectsOf, type ToolDefinition } from '../shared/tools/definition.ts';
import { listDir } from '../shared/tools/list-dir.ts';
import { runTerminalCmd } from '../shared/tools/run-terminal-cmd.ts';
import {
  type BridgeFrame,
  type Confinement as ConfinementReport,
  type ToolCall,
  TUNNEL_PROTOCOL,
} from '../shared/tunnel.ts';
import { Asking } from './admission/asking.ts';
import { readDevices } from './admission/devices.ts';
import { judgeCall, type Policy, visibilityOf } from './admission/policy.ts';
import { readRules } from './admission/rules.ts';
import { createTerminalPrompt } from './admission/terminal.ts';
import { visibilityInAll } from './admission/visibility.ts';
import { ContextTeller } from './context/teller.ts';
import { ToolFailure } from './failure.ts';
import { logTrouble } from './log.ts';
import { WorkspaceGuard } from './quarantine/guard.ts';
import { protectedIn } from './quarantine/listing.ts';
import { probeConfinement } from './sandbox/confine.ts';
import type { Confinement } from './sandbox/confinement.ts';
import { readReadable, stateFolders } from './sandbox/owners-choice.ts';
import { BackgroundProcesses } from './terminal/background.ts';
import { type BridgeTool, bindTool, createCatalogue } from './tools/catalogue.ts';
import { createRunTerminalCmd } from './tools/run-terminal-cmd.ts';
import type { Judgement } from './tunnel/call-runner.ts';
import { ConnectionRefused, stayConnected } from './tunnel/connection.ts';
import { Journal } from './tunnel/journal.ts';
import { Session } from './tunnel/session.ts';
import type { ConnectionEvents } from './tunnel/socket.ts';
import { Workspace } from './workspace/workspace.ts';

export type BridgeStatus =
  | { readonly event: 'connected'; readonly confinement: ConfinementReport }
  | { readonly event: 'disconnected'; readonly reason: string }
  | { readonly event: 'refused'; readonly message: string };

export interface BridgeConfig {
  /** Of the API, http or https. */
  readonly url: string;
  /** Scope `bridge`, for this bridge's id. */
  readonly token: string;
  readonly bridgeId: string;
  readonly workspaceDir: string;
  /** Outside every workspace: journal, rules and enrolled devices. */
  readonly stateDir: string;
  onStatus(status: BridgeStatus): void;
}

/** Runs until the signal aborts, or until the server refuses the bridge for good, which `onStatus` is told. */
export async function runBridge(config: BridgeConfig, signal: AbortSignal): Promise<void> {
  const { stateDir } = config;
  const workspace = await Workspace.open(config.workspaceDir, { closedPaths: [stateDir] });
  const bootId = crypto.randomUUID();
  // First of all: no other bridge works on this state, and nothing of a killed one's commands is taken for the person's.
  using journal = Journal.open(join(stateDir, 'journal.jsonl'), bootId);
  const guard = await WorkspaceGuard.open({
    workspace: workspace.root,
    stateDir,
    listProtected: protectedIn(workspace.root),
    tell: (line) => console.error(line),
  });
  using confinement = await probeConfinement({
    workspace: workspace.root,
    home: homedir(),
    closedFolders: await stateFolders(stateDir),
    readable: await readReadable(stateDir),
    environment: process.env,
  });
  const background = new BackgroundProcesses();
  const tools = toolsOf({ confinement, background, guard });
  const readMayName = () => mayNameUnder(workspace.root, stateDir, guard);
  const looked = { root: workspace.root, confinement, readMayName };
  const looker = new ContextTeller(looked, (look) => session.tellContext(look), signal);
  const onChanged = () => looker.refresh();
  const { bridgeId } = config;
  const machine = { bridgeId, workspace, confinement, guard, journal, tools, stateDir, onChanged };
  const session: Session = createSession(machine);
  const { kind, detail } = confinement;
  const introduction = { bootId, tools: [...tools.keys()], confinement: { kind, detail } };
  try {
    await serve(config, { session, journal, introduction, looker }, signal);
  } finally {
    await Promise.all([session.end(), background.endAll()]);
    await guard.close();
  }
}

function createSession(machine: {
  readonly bridgeId: string;
  readonly workspace: Workspace;
  readonly confinement: Confinement;
  readonly guard: WorkspaceGuard;
  readonly journal: Journal;
  readonly tools: ReadonlyMap<string, BridgeTool>;
  readonly stateDir: string;
  readonly onChanged: () => void;
}): Session {
  const { bridgeId, workspace, confinement, guard, journal, tools, stateDir, onChanged } = machine;
  const asking = new Asking({
    bridgeId,
    book: journal,
    terminal: createTerminalPrompt(process.stdin, process.stderr),
    devices: (): Promise<readonly DeviceKey[]> => readDevices(join(stateDir, 'devices.json')),
    onRequested: (open) => session.tellQuestion(open),
    onRefused: (answer, why) => session.tellRefusal(answer, why),
    onResolved: (question, resolution) => session.tellResolution(question, resolution),
  });
  const decide = async (call: ToolCall, { definition }: BridgeTool): Promise<Judgement> => {
    const rules = await readAllRules(workspace.root, stateDir, guard);
    if (rules === undefined) return { decision: 'deny', reason: UNREADABLE_RULES };
    const isConfined = confinement.kind !== 'none';
    const realNames = await realNamesOf(call, definition, workspace);
    const policy = { workspace: workspace.root, isConfined, realNames, ...rules };
    return { ...judgeCall(call, policy), visibility: visibilityOf(call, policy) };
  };
  const session: Session = new Session({
    workspace,
    tools,
    asking,
    journal,
    decide,
    onChanged,
  });
  return session;
}

/** None for a call without a path, and undefined for one that will be refused where it is resolved. */
async function realNamesOf(
  { arguments: args }: ToolCall,
  tool: ToolDefinition,
  workspace: Workspace,
): Promise<(string | undefined)[]> {
  const parsed = tool.arguments.safeParse(renameArguments(tool, args));
  if (!parsed.success || !takesPath(tool)) return [];
  return await Promise.all(
    subjectsOf(tool, parsed.data).map((path) => realNameOf(path, workspace)),
  );
}

async function realNameOf(path: string, workspace: Workspace): Promise<string | undefined> {
  try {
    return workspace.nameOf((await workspace.resolve(path, 'read')).path);
  } catch (error) {
    if (error instanceof ToolFailure) return undefined;
    throw error;
  }
}

/** Undefined when a file of rules is broken: what it forbids is not known then, so nothing may run. */
async function readAllRules(
  root: string,
  stateDir: string,
  guard: WorkspaceGuard,
): Promise<Pick<Policy, 'userRules' | 'workspaceRules' | 'trustsNetwork'> | undefined> {
  try {
    // Rules that a command at work made are about to be quarantined, and must not stop other calls until then.
    const isForeign = await guard.isForeign('.drawbridge');
    const owners = await readRules(join(stateDir, 'policy.json'));
    const workspaces = isForeign
      ? undefined
      : await readRules(join(root, '.drawbridge', 'policy.json'));
    return {
      userRules: owners.rules,
      trustsNetwork: owners.trustsNetwork,
      workspaceRules: workspaces?.rules ?? [],
    };
  } catch (error) {
    logTrouble('No call runs', error);
    return undefined;
  }
}

/** What the prompt is told of the workspace is what `list_dir` could tell; nothing where the rules cannot be read. */
async function mayNameUnder(
  root: string,
  stateDir: string,
  guard: WorkspaceGuard,
): Promise<(name: string) => boolean> {
  const rules = await readAllRules(root, stateDir, guard);
  return rules === undefined ? () => false : visibilityInAll(listDir, rules).mayShow;
}

/** For the model, too: where our state is, and what is in it, only the log says. */
const UNREADABLE_RULES =
  'a file of rules is broken, the owner’s policy.json or .drawbridge/policy.json of the workspace, so nothing ' +
  'runs until the person mends it: `drawbridge check` in a terminal says what is wrong, and `drawbridge check --mend` ' +
  'puts a broken .drawbridge of the workspace into quarantine.';

function toolsOf(
  machine: Parameters<typeof createRunTerminalCmd>[0],
): ReadonlyMap<string, BridgeTool> {
  return createCatalogue(bindTool(runTerminalCmd, createRunTerminalCmd(machine)));
}

interface Served {
  readonly looker: ContextTeller;
  readonly session: Session;
  readonly journal: Journal;
  readonly introduction: Pick<Hello, 'bootId' | 'tools' | 'confinement'>;
}

type Hello = Extract<BridgeFrame, { type: 'hello' }>;

async function serve(config: BridgeConfig, served: Served, signal: AbortSignal): Promise<void> {
  const { session, introduction } = served;
  const status = createStatusTeller(config);
  const events: ConnectionEvents = {
    onOpen: (send, closed) => void introduce(config, served, send, closed),
    onFrame: (frame) => {
      session.receive(frame);
      if (frame.type === 'welcome') status.connected(introduction.confinement);
    },
    onClose: (reason) => {
      session.detach();
      status.disconnected(reason);
    },
  };
  try {
    await stayConnected(config, events, signal);
  } catch (error) {
    if (!(error instanceof ConnectionRefused)) throw error;
    config.onStatus({ event: 'refused', message: error.message });
  }
}

/** Says hello on a new socket, unless it has gone while we looked at the machine: then a later one may be in use. */
async function introduce(
  { bridgeId }: BridgeConfig,
  { looker, session, journal, introduction }: Served,
  send: (frame: BridgeFrame) => void,
  closed: AbortSignal,
): Promise<void> {
  const context = await looker.look(closed).catch(() => undefined);
  if (context === undefined || closed.aborted) return; // It rejects only when the socket is gone.
  const { calls } = journal;
  const first = calls.splice(0, TUNNEL_LIMITS.maxListedCalls);
  const version = { protocol: TUNNEL_PROTOCOL, features: [] };
  send({ type: 'hello', ...version, bridgeId, ...introduction, context, calls: first });
  session.attach(send);
  // A server that does not know these acks them, and takes its time for that.
  while (calls.length > 0) {
    send({ type: 'held_calls', calls: calls.splice(0, TUNNEL_LIMITS.maxListedCalls) });
  }
}

/** Tells an outage once for each reason, not with every attempt to come back. */
function createStatusTeller({ onStatus }: BridgeConfig) {
  let told: string | undefined;
  return {
    connected(confinement: ConfinementReport): void {
      told = undefined;
      onStatus({ event: 'connected', confinement });
    },
    disconnected(reason: string): void {
      if (reason !== told) onStatus({ event: 'disconnected', reason });
      told = reason;
    },
  };
}
