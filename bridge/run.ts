/** The bridge of one workspace: assembles it, connects it, and ends it without leaving a process. */
import { homedir } from 'node:os';
import { join } from 'node:path';
import { noteFolder } from '../machine/agent-folders.ts';
import type { BridgeStatus } from '../machine/bridge-status.ts';
import { allowAlways } from '../machine/owner-rules.ts';
import type { Preset } from '../machine/preset.ts';
import type { MessageLook } from '../shared/wire/findings.ts';
import { DeviceAsker, terminalAsker } from './admission/askers.ts';
import { type Asker, Asking } from './admission/asking.ts';
import { noteDeviceUse, readDevices } from './admission/devices.ts';
import { createJudge, readFindable, readTellable, readTrust } from './admission/judge.ts';
import { idleRules, readRules } from './admission/rules.ts';
import { createTerminalPrompt } from './admission/terminal.ts';
import type { Reading } from './context/file-text.ts';
import { Finder } from './context/finder.ts';
import { type Looked, Looker, type Tellable } from './context/looker.ts';
import { Definitions } from './definitions/definitions.ts';
import { CompanionHost } from './ide/companion/hosting.ts';
import { guestContext } from './ide/guest-context.ts';
import { Guests } from './ide/guests.ts';
import { editorContext } from './ide/link/context.ts';
import { editorDiagnostics } from './ide/link/diagnostics.ts';
import { type EditorLink, linkHere } from './ide/link/link.ts';
import { callAtWork, logEvent } from './log.ts';
import { serverFileIn } from './mcp/server-file.ts';
import { McpServers } from './mcp/servers.ts';
import { requireForeignFiles } from './own-files.ts';
import { WorkspaceGuard } from './quarantine/guard.ts';
import { protectedIn } from './quarantine/listing.ts';
import { type RuleLook, Rules } from './rules/rules.ts';
import { probeConfinement } from './sandbox/confine.ts';
import { readReadable, stateFolders } from './sandbox/owners-choice.ts';
import { BackgroundProcesses } from './terminal/background.ts';
import { createCatalogue } from './tools/catalogue.ts';
import { ReadLedger } from './tools/ledger.ts';
import { Offers } from './tools/offers.ts';
import { createRunTerminalCmd } from './tools/run-terminal-cmd.ts';
import { Journal } from './tunnel/journal.ts';
import { OfferTeller } from './tunnel/offer-teller.ts';
import { ServerTeller } from './tunnel/server-teller.ts';
import { serve } from './tunnel/serving.ts';
import { type Machine, Session } from './tunnel/session.ts';
import type { ConnectionConfig } from './tunnel/socket.ts';
import { readPage } from './web/page.ts';
import { Workspace } from './workspace/workspace.ts';
import { NO_ROOMS } from './worktrees/rooms.ts';
import { Worktrees } from './worktrees/worktrees.ts';

export interface BridgeConfig {
  /** Address of the API, http or https. */
  readonly url: string;
  /** Has the scope `bridge`, for this bridge's id. */
  readonly token: string;
  /** See {@link ConnectionConfig}. */
  readonly readToken?: ConnectionConfig['readToken'];
  readonly bridgeId: string;
  /** The id of this machine's device: the server keeps a bridge to its machine and its folder. */
  readonly machineId?: string;
  /** Lets the bridge's conversations go on in this folder, where they were elsewhere before. */
  readonly moves?: boolean | undefined;
  readonly workspaceDir: string;
  /** Outside every workspace. Holds journal, rules and enrolled devices. */
  readonly stateDir: string;
  /** Holds the list of the devices that count at every bridge of the machine, if that is another folder. */
  readonly machineDir?: string;
  /** What programs of this bridge get of it: commands by bridge/sandbox/environment.ts, MCP servers by bridge/mcp/. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Whether it may ask questions at this process's terminal. One bridge of a process may. */
  readonly asksAtTerminal: boolean;
  /** The owner's preset for projects without one of their own. Default: `workspace`. */
  readonly preset?: Preset;
  /** Tools beside the built-in ones. The tools of the owner's MCP servers are added to them. */
  readonly offers?: Offers;
  /** Programs beside the bridge's own that are started again from their files: the Node of a server. */
  readonly programs?: readonly string[];
  onStatus(status: BridgeStatus): void;
}

/** Runs until the signal aborts, or until the server refuses the bridge for good. `onStatus` is told of a refusal. */
export async function runBridge(config: BridgeConfig, signal: AbortSignal): Promise<void> {
  const { stateDir, environment, onStatus, offers = new Offers() } = config;
  const workspace = await Workspace.open(config.workspaceDir, { closedPaths: [stateDir] });
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
    tell: (message) => logEvent({ event: 'attention_needed', ...callAtWork(), message }),
  });
  using confinement = await probeConfinement({
    workspace: root,
    home: homedir(),
    closedFolders: await stateFolders(stateDir),
    readable: await readReadable(stateDir),
    environment,
  });
  if (confinement.ignored) workspace.keepClosed(confinement.ignored);
  await tellIdleRules(stateDir);
  const background = new BackgroundProcesses();
  const builtIn = createCatalogue(createRunTerminalCmd({ confinement, background, guard }));
  const { kind, detail } = confinement;
  const isForeign = (path: string) => guard.isForeign(path);
  const surroundings = { root, stateDir, preset: config.preset, isForeign, workspace };
  const isDistrusted = () => link.isTrusted === false;
  const trust = { isConfined: kind !== 'none', isDistrusted };
  const judge = createJudge(surroundings, trust);
  const findOffer = (name: string) => offers.find(name);
  // Nothing below waits until all parts are there: each may be called by another from then on.
  const worktrees = await Worktrees.open({
    root,
    stateDir,
    confinement,
    isForeign,
    findOffer,
    judgeIn: (folder) => createJudge(surroundings, { ...trust, folder }),
    readTellable: () => readTellable(surroundings),
  });
  const link = linkHere(root, { stateDir, environment }, (view) =>
    companion.contextChanged(guestContext(view)),
  );
  const looked = {
    root,
    confinement,
    readTellable: () => readTellable(surroundings),
    readEditor: editorReader(link, workspace),
    readRules: reading(new Rules(workspace, stateDir), signal),
    readDefinitions: reading(new Definitions(workspace), signal),
  };
  const looker = new Looker(looked, signal);
  const ledger = new ReadLedger();
  const teller = new OfferTeller(async () =>
    offers.isEmpty ? null : offers.set(await readTrust(surroundings)),
  );
  offers.onChange(() => teller.changed());
  const guests = new Guests({ root, workspace, cancel: (callId) => session.cancel(callId) });
  const known = new Map([...builtIn, [guests.tool.definition.name, guests.tool]]);
  const companion = new CompanionHost({
    stateDir,
    root,
    onDiff: (diff, ended) => guests.ask(diff, ended),
  });
  for (const tool of worktrees?.tools ?? []) known.set(tool.definition.name, tool);
  const finding = {
    workspace,
    ledger,
    looker,
    readPage,
    readTellable: () => readFindable(surroundings, isDistrusted),
    worktreeOf: async (conversationId: string) => await worktrees?.rooms.lookedOf(conversationId),
    readDiagnostics: (used: readonly string[], { readable, signal }: Reading) =>
      editorDiagnostics(link, { used, readable, signal }),
  };
  const finder = new Finder(finding, signal);
  const tools = { get: (name: string) => known.get(name) ?? findOffer(name) };
  const mcpServers = new ServerTeller(() => servers.reports);
  const servers = new McpServers({
    workspace: root,
    file: serverFileIn(stateDir),
    offers,
    environment,
    sandbox: { confinement, guard },
    onChange: () => mcpServers.changed(),
  });
  const gate = {
    workspace,
    tools,
    judge,
    journal,
    ledger,
    offers: teller,
    mcpServers,
    guests,
    look: (message: MessageLook | undefined) => finder.look(message),
  };
  const elsewhere = worktrees?.rooms ?? NO_ROOMS;
  const session: Session = createSession({ ...gate, elsewhere }, { ...config, editor: link.asker });
  const introduction = {
    bootId,
    tools: [...known.keys()],
    confinement: { kind, detail },
    ...(config.machineId !== undefined && { machineId: config.machineId }),
    ...(config.moves && { moved: true as const }),
  };
  try {
    const served = {
      session,
      journal,
      introduction,
      looker,
      offers: teller,
      onStatus: (status: BridgeStatus) => {
        servers.start(); // Only now: they would slow the bridge's own start.
        onStatus(status);
      },
    };
    await serve(config, served, signal);
  } finally {
    const sessionEnd = session.end().then(() => link.end());
    const ends = [background.endAll(), worktrees?.end(), servers.end(), companion.end()];
    await Promise.all([sessionEnd, ...ends]);
    await guard.close();
  }
}

/** A broken file is reported with the first call that it stops. */
async function tellIdleRules(stateDir: string): Promise<void> {
  const rules = await readRules(join(stateDir, 'policy.json')).catch(() => undefined);
  for (const message of rules ? idleRules(rules) : [])
    logEvent({ event: 'rule_without_effect', message });
}

function editorReader(link: EditorLink, workspace: Workspace): NonNullable<Looked['readEditor']> {
  return async (tellable) =>
    link.view && (await editorContext(link.view, { workspace, ...tellable }));
}

/** Reads rules or definitions. Undefined where the disk fails: the model keeps what it knows. */
function reading<Found>(
  source: { look(look: RuleLook): Promise<Found | undefined> },
  signal: AbortSignal,
): (tellable: Tellable, ignored?: RuleLook['ignored']) => Promise<Found | undefined> {
  return async (tellable, ignored) => {
    try {
      return await source.look({ ...tellable, ignored, signal });
    } catch {
      signal.throwIfAborted();
      return undefined;
    }
  };
}

interface Asked
  extends Pick<BridgeConfig, 'bridgeId' | 'stateDir' | 'machineDir' | 'asksAtTerminal'> {
  readonly editor: Asker;
}

function createSession(
  machine: Omit<Machine, 'asking' | 'devices'>,
  { bridgeId, stateDir, machineDir = stateDir, asksAtTerminal, editor }: Asked,
): Session {
  const terminal = asksAtTerminal && createTerminalPrompt(process.stdin, process.stderr);
  const devices = new DeviceAsker({
    keys: async () => {
      const lists = [...new Set([machineDir, stateDir])];
      const read = lists.map((dir) => readDevices(join(dir, 'devices.json')));
      return (await Promise.all(read)).flat();
    },
    onRefused: (answer, why) => session.tellRefusal(answer, why),
    onUsed: (deviceId) =>
      void noteDeviceUse(join(stateDir, 'device-uses.json'), deviceId, new Date()),
  });
  const asking = new Asking({
    bridgeId,
    book: machine.journal,
    askers: [
      devices,
      editor,
      ...(terminal ? [terminalAsker(terminal, (offer) => allowAlways(stateDir, offer))] : []),
    ],
    onRequested: (open) => session.tellQuestion(open),
    onResolved: (question, resolution) => session.tellResolution(question, resolution),
  });
  const session: Session = new Session({ ...machine, asking, devices });
  return session;
}
