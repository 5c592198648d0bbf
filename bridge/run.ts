/** The bridge of one workspace: put together, connected, and ended without leaving a process. */
import { homedir } from 'node:os';
import { join } from 'node:path';
import type { DeviceKey } from '../shared/approvals.ts';
import { runTerminalCmd } from '../shared/tools/run-terminal-cmd.ts';
import {
  type BridgeFrame,
  type Confinement as ConfinementReport,
  TUNNEL_PROTOCOL,
} from '../shared/tunnel.ts';
import { Asking } from './approvals/asking.ts';
import { readDevices } from './approvals/devices.ts';
import { judgeCall, type Verdict } from './approvals/policy.ts';
import { readRules } from './approvals/rules.ts';
import { createTerminalPrompt } from './approvals/terminal.ts';
import { readMachineContext } from './context.ts';
import { probeConfinement } from './sandbox/confine.ts';
import type { Confinement } from './sandbox/confinement.ts';
import { Workspace } from './sandbox/workspace.ts';
import { BackgroundProcesses } from './terminal/background.ts';
import { type BridgeTool, bindTool, createCatalogue } from './tools/catalogue.ts';
import { createRunTerminalCmd } from './tools/run-terminal-cmd.ts';
import { type ConnectionEvents, ConnectionRefused, stayConnected } from './tunnel/connection.ts';
import { Journal } from './tunnel/journal.ts';
import { Session } from './tunnel/session.ts';

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
  const confinement = await probeConfinement({
    workspace: workspace.root,
    home: homedir(),
    closedFolders: [stateDir],
    environment: process.env,
  });
  const bootId = crypto.randomUUID();
  using journal = Journal.open(join(stateDir, 'journal.jsonl'), bootId);
  const background = new BackgroundProcesses();
  const tools = toolsOf(confinement, background);
  const session = createSession({ workspace, confinement, journal, tools, stateDir });
  const { kind, detail } = confinement;
  const introduction = { bootId, tools: [...tools.keys()], confinement: { kind, detail } };
  try {
    await serve(config, { workspace, session, journal, introduction }, signal);
  } finally {
    await session.end();
    await background.endAll();
  }
}

function createSession(machine: {
  readonly workspace: Workspace;
  readonly confinement: Confinement;
  readonly journal: Journal;
  readonly tools: ReadonlyMap<string, BridgeTool>;
  readonly stateDir: string;
}): Session {
  const { workspace, confinement, journal, tools, stateDir } = machine;
  const asking = new Asking({
    terminal: createTerminalPrompt(process.stdin, process.stderr),
    devices: (): Promise<readonly DeviceKey[]> => readDevices(join(stateDir, 'devices.json')),
    onRequested: (callId, reason) => session.send({ type: 'approval_request', callId, reason }),
    onResolved: (callId, resolution) =>
      session.send({ type: 'approval_resolved', callId, ...resolution }),
  });
  const session: Session = new Session({
    workspace,
    tools,
    asking,
    journal,
    decide: async (call): Promise<Verdict> =>
      judgeCall(call, {
        workspace: workspace.root,
        isConfined: confinement.kind !== 'none',
        userRules: await readRules(join(stateDir, 'policy.json')),
        workspaceRules: await readRules(join(workspace.root, '.drawbridge', 'policy.json')),
      }),
  });
  return session;
}

function toolsOf(
  confinement: Confinement,
  background: BackgroundProcesses,
): ReadonlyMap<string, BridgeTool> {
  return createCatalogue(
    bindTool(runTerminalCmd, createRunTerminalCmd({ confinement, background })),
  );
}

interface Served {
  readonly workspace: Workspace;
  readonly session: Session;
  readonly journal: Journal;
  readonly introduction: Pick<Hello, 'bootId' | 'tools' | 'confinement'>;
}

type Hello = Extract<BridgeFrame, { type: 'hello' }>;

async function serve(config: BridgeConfig, served: Served, signal: AbortSignal): Promise<void> {
  const { workspace, session, journal, introduction } = served;
  const { bridgeId, onStatus } = config;
  const introduce = async (send: (frame: BridgeFrame) => void) => {
    const context = await readMachineContext(workspace.root, signal);
    const calls = journal.calls;
    send({ type: 'hello', protocol: TUNNEL_PROTOCOL, bridgeId, ...introduction, context, calls });
    session.attach(send);
  };
  const events: ConnectionEvents = {
    onOpen: (send) => void introduce(send).catch(() => undefined), // Only the signal ends it early.
    onFrame: (frame) => {
      session.receive(frame);
      if (frame.type !== 'welcome') return;
      onStatus({ event: 'connected', confinement: introduction.confinement });
    },
    onClose: (reason) => {
      session.detach();
      onStatus({ event: 'disconnected', reason });
    },
  };
  try {
    await stayConnected(config, events, signal);
  } catch (error) {
    if (!(error instanceof ConnectionRefused)) throw error;
    onStatus({ event: 'refused', message: error.message });
  }
}
