/** The parts of a running bridge: makes them, and binds them to each other. */

import { isAbsolute, join } from 'node:path';
import { wayBelow } from '../machine/below.ts';
import type { BridgeStatus } from '../machine/bridge-status.ts';
import type { Environment } from '../machine/environment.ts';
import { addRules } from '../machine/owner-rules.ts';
import type { MessageLook } from '../shared/wire/findings.ts';
import type { Mode } from '../shared/wire/modes.ts';
import { DeviceAsker, terminalAsker } from './admission/askers.ts';
import { Asking } from './admission/asking.ts';
import { devicesOf, noteDeviceUse } from './admission/devices.ts';
import { Enrolling } from './admission/enrolling.ts';
import {
  createJudge,
  type JudgeFacts,
  type JudgeSurroundings,
  readFindable,
  readShowable,
  readTrust,
} from './admission/judge.ts';
import type { AnsweredRules } from './admission/lasting.ts';
import { rulesOf } from './admission/lasting.ts';
import { reportPolicy } from './admission/policy-report.ts';
import { ownersFiles } from './admission/rules.ts';
import { createTerminalPrompt } from './admission/terminal.ts';
import type { Checkpoints } from './checkpoints/checkpoints.ts';
import { Completion } from './completion/completion.ts';
import type { Reading } from './context/file-text.ts';
import { Finder, type Sight } from './context/finder.ts';
import { lookForGrantee } from './context/grantee-look.ts';
import { type Looked, Looker, type ShowableNames } from './context/looker.ts';
import { Definitions } from './definitions/definitions.ts';
import { confinedServers } from './diagnostics/confined.ts';
import type { LanguageServers } from './diagnostics/servers.ts';
import { usedFileDiagnostics } from './diagnostics/used-files.ts';
import type { Egress } from './egress/egress.ts';
import { Formatters } from './formatting/formatters.ts';
import { Audit } from './grantees/audit.ts';
import type { Grantees } from './grantees/grantees.ts';
import { Guests } from './guests/guests.ts';
import { CompanionHost, guestContext } from './guests/hosting.ts';
import { type HookRun, Hooks } from './hooks/hooks.ts';
import { editorContext } from './ide/link/context.ts';
import { editorDiagnostics } from './ide/link/diagnostics.ts';
import type { Distrust } from './ide/link/distrust.ts';
import { type EditorLink, linkHere } from './ide/link/link.ts';
import { CodeIndex } from './index/code-index.ts';
import type { EmbeddingService } from './index/embedder.ts';
import { INDEX_LIMITS } from './index/limits.ts';
import { serverFileIn } from './mcp/server-file.ts';
import { McpServers } from './mcp/servers.ts';
import { OpenPorts } from './ports/open-ports.ts';
import { reportProcesses } from './ports/report.ts';
import type { WorkspaceGuard } from './quarantine/guard.ts';
import { type RuleLook, Rules } from './rules/rules.ts';
import type { Confinement } from './sandbox/launch/confinement.ts';
import type { Skills } from './skills/skills.ts';
import { BackgroundProcesses } from './terminal/background.ts';
import { type ProcessBook, stopProcess } from './terminal/process-book.ts';
import { createCatalogue, createCommandTools } from './tools/catalogue.ts';
import { codebaseSearching } from './tools/codebase-search.ts';
import type { BridgeTool } from './tools/executor.ts';
import { ReadLedger } from './tools/ledger.ts';
import { reportingNames } from './tools/new-names.ts';
import type { Offers } from './tools/offers.ts';
import { OfferFeed, ReportFeed } from './tunnel/feeds.ts';
import type { Journal } from './tunnel/journal.ts';
import { serve } from './tunnel/serving.ts';
import { CallSession } from './tunnel/session.ts';
import type { ConnectionConfig } from './tunnel/socket.ts';
import { readPage } from './web/page.ts';
import type { Workspace } from './workspace/workspace.ts';
import { NO_ROOMS } from './worktrees/rooms.ts';
import type { Worktrees } from './worktrees/worktrees.ts';

/** What the parts of a bridge need of its configuration. */
export interface PartsConfig extends ConnectionConfig {
  /** The id of this machine's device: the server keeps a bridge to its machine and its folder. */
  readonly machineId?: string;
  /** Lets the bridge's conversations go on in this folder, where they were elsewhere before. */
  readonly moves?: boolean | undefined;
  /** Outside every workspace. Holds journal, rules and enrolled devices. */
  readonly stateDir: string;
  /** The folder of the owner's configuration: it may hold rules for all projects. */
  readonly configDir?: string | undefined;
  /** Has the devices that count at every bridge of the machine, and the secrets that add to them. Default: `stateDir`. */
  readonly machineDir?: string;
  /** What programs of this bridge get of it: commands by bridge/sandbox/launch/environment.ts, MCP servers by bridge/mcp/. */
  readonly environment: Environment;
  /** Whether it may ask questions at this process's terminal. One bridge of a process may. */
  readonly asksAtTerminal: boolean;
  /** Whether the owner lets devices of other machines allow calls from now on. */
  readonly devicesMayAllowAlways?: boolean;
  /** Whether the owner counts devices of other machines only by passkeys. */
  readonly devicesNeedPasskey?: boolean;
  /** The owner's model for vectors. Without one the index finds by words. */
  readonly embedding?: EmbeddingService | undefined;
  /** The modes in which a message gets the code that it is about. Default: all but `debug`. */
  readonly codeInPrompt?: readonly Mode[] | undefined;
  onStatus(status: BridgeStatus): void;
}

/** What is opened before the parts of the bridge, because it takes its time. */
export interface OpenedGround {
  readonly config: PartsConfig;
  readonly bootId: string;
  readonly workspace: Workspace;
  readonly journal: Journal;
  readonly guard: WorkspaceGuard;
  readonly confinement: Confinement;
  readonly checkpoints: Checkpoints | undefined;
  readonly offers: Offers;
  readonly worktrees: Worktrees | undefined;
  readonly egress: Egress | undefined;
  readonly book: ProcessBook;
  readonly surroundings: JudgeSurroundings;
  readonly trust: Omit<JudgeFacts, 'isDistrusted' | 'folder'> & { isDistrusted(): boolean };
  readonly distrust: Distrust;
  readonly answered: AnsweredRules;
  readonly grantees: Grantees;
  /** Tools that need no folder of a call. */
  readonly web: ReadonlyMap<string, BridgeTool>;
  readonly skills: Skills;
  readonly undoing: ReadonlyMap<string, BridgeTool>;
}

/** The parts of a running bridge, in the order in which they are made. A part may call a later one once all are there. */
export class RunningBridge {
  readonly link: EditorLink;
  readonly #ground: OpenedGround;
  readonly #background: BackgroundProcesses;
  readonly #ledger = new ReadLedger();
  readonly #ports: OpenPorts;
  readonly #enrolling: Enrolling;
  readonly #index: CodeIndex;
  readonly #looker: Looker;
  readonly #offerFeed: OfferFeed;
  readonly #guests: Guests;
  readonly #companion: CompanionHost;
  readonly #languageServers: LanguageServers;
  readonly #tools: ReadonlyMap<string, BridgeTool>;
  readonly #finder: Finder;
  readonly #completion: Completion;
  readonly #servers: McpServers;
  readonly #serverFeed = new ReportFeed(() => ({
    type: 'mcp_servers',
    servers: this.#servers.reports,
  }));
  /** Whom the machine lets in, as of the last look at the file. */
  #names: readonly string[] = [];
  readonly #grantFeed = new ReportFeed(() => ({
    type: 'grants',
    names: [...this.#names],
  }));
  readonly #audit: Audit;
  readonly #session: CallSession;

  /** Waits for nothing: from here on each part may be called. */
  constructor(ground: OpenedGround, signal: AbortSignal) {
    this.#ground = ground;
    this.#background = new BackgroundProcesses(ground.book);
    this.#audit = new Audit(ground.config.stateDir);
    this.#ports = new OpenPorts({
      bridgeId: ground.config.bridgeId,
      book: ground.book,
      devices: () => devicesOf(ground.config),
    });
    const { config, workspace, offers, surroundings } = ground;
    const { bridgeId, stateDir, machineDir = stateDir } = config;
    this.#enrolling = new Enrolling({ bridgeId, machineDir, audit: this.#audit });
    const { root } = workspace;
    this.link = linkHere(root, { ...config, distrust: ground.distrust }, (view) =>
      this.#companion.contextChanged(guestContext(view)),
    );
    this.#index = new CodeIndex({
      workspace,
      path: join(config.stateDir, 'index.sqlite'),
      embedding: config.embedding && {
        service: config.embedding,
        readSendable: async () => sendable(await this.#readFindable()),
      },
      onReport: (index) => config.onStatus({ event: 'index', index }),
      signal,
    });
    this.#looker = this.#newLooker(signal);
    this.#offerFeed = new OfferFeed(async () =>
      offers.isEmpty ? null : offers.set(await readTrust(surroundings)),
    );
    offers.onChange(() => this.#offerFeed.update());
    this.#guests = new Guests({
      root,
      workspace,
      cancel: (callId) => this.#session.cancel(callId),
    });
    this.#companion = new CompanionHost({
      stateDir: config.stateDir,
      root,
      onDiff: async (diff, ended) => {
        // A guest may spell the workspace through a link of its own.
        const { filePath } = diff;
        const way = isAbsolute(filePath) ? await wayBelow(root, filePath) : undefined;
        const named = way === undefined ? diff : { ...diff, filePath: join(root, way) };
        return await this.#guests.ask(named, ended);
      },
    });
    this.#languageServers = this.#newLanguageServers();
    this.#tools = this.#newTools();
    this.#finder = this.#newFinder(signal);
    this.#completion = this.#newCompletion(signal);
    this.#servers = this.#newServers();
    this.#session = this.#newSession();
  }

  /** Serves calls until the signal aborts, or until the server refuses the bridge. */
  async serve(signal: AbortSignal): Promise<void> {
    const { config, bootId, journal, confinement, grantees } = this.#ground;
    const { kind, detail } = confinement;
    const introduction = {
      bootId,
      tools: [...this.#tools.keys()],
      confinement: { kind, detail },
      ...(config.machineId !== undefined && { machineId: config.machineId }),
      ...(config.moves && { moved: true as const }),
    };
    const served = {
      session: this.#session,
      journal,
      introduction,
      looker: this.#looker,
      offers: this.#offerFeed,
      readNames: async () => {
        const names = await grantees.names();
        this.#names = names;
        return names;
      },
      onStatus: (status: BridgeStatus) => {
        // Only now: they would slow the bridge's own start.
        this.#servers.start();
        this.#index.start(INDEX_LIMITS.startDelayMs);
        config.onStatus(status);
      },
    };
    const refused = new AbortController();
    const ended = AbortSignal.any([signal, refused.signal]);
    const following = grantees.follow((names) => this.#letIn(names), ended);
    try {
      await serve(config, served, signal);
    } finally {
      refused.abort();
      await following;
    }
  }

  /** Ends what the accounts do that are no longer let in: their calls, and what they left in the background. */
  #letIn(names: readonly string[]): void {
    const { grantees, book } = this.#ground;
    this.#names = names;
    this.#session.endGrants(names);
    for (const conversationId of grantees.conversationsWithout(names)) {
      for (const process of book.list(conversationId)) void stopProcess(process, 'person');
    }
    this.#grantFeed.update();
  }

  async #look(message: MessageLook | undefined, grantee: string | undefined): Promise<Sight> {
    const { grantees, worktrees } = this.#ground;
    const finder = this.#finder;
    if (grantee === undefined) return await finder.look(message);
    const { conversationId, worktree } = message ?? {};
    const place = worktree === true ? conversationId : worktree;
    const named = [conversationId, place].filter((id) => id !== undefined);
    const mayName = named.every((id) => grantees.mayName(id, grantee));
    const grant = mayName ? await grantees.grantFor(grantee) : undefined;
    const room = grant && place && (await worktrees?.rooms.lookedOf(place));
    return await lookForGrantee({ finder, grant, isApart: room !== undefined }, message);
  }

  /** The editor goes after the calls, which may still ask there. */
  async end(): Promise<void> {
    this.#ports.end();
    const sessionEnd = this.#session.end().then(() => this.link.end());
    const ends = [this.#background.endAll(), this.#ground.worktrees?.end(), this.#servers.end()];
    const parts = [this.#companion, this.#languageServers, this.#index];
    await Promise.all([sessionEnd, ...ends, ...parts.map((part) => part.end())]);
  }

  #newLooker(signal: AbortSignal): Looker {
    const { config, workspace, confinement, skills } = this.#ground;
    const looked = {
      root: workspace.root,
      confinement,
      readShowable: () => readShowable(this.#ground.surroundings),
      readEditor: editorReader(this.link, workspace),
      readRules: reading(new Rules(workspace, ownersFolders(config)), signal),
      readDefinitions: reading(new Definitions(workspace), signal),
      readSkills: reading(skills, signal),
    };
    return new Looker(looked, signal);
  }

  #newLanguageServers(): LanguageServers {
    const { config, confinement, trust } = this.#ground;
    const { root } = this.#ground.workspace;
    return confinedServers({ root, confinement, stateDir: config.stateDir, ...trust });
  }

  #newTools(): ReadonlyMap<string, BridgeTool> {
    const { confinement, guard, egress, web, undoing, config, trust, workspace } = this.#ground;
    const { root } = workspace;
    const formatters = new Formatters({ root, confinement, stateDir: config.stateDir, ...trust });
    const background = this.#background;
    const commands = createCommandTools({ confinement, background, guard, egress });
    const more = [this.#guests.tool, ...(this.#ground.worktrees?.tools ?? [])];
    const named = more.map((tool) => [tool.definition.name, tool] as const);
    const searching = codebaseSearching(this.#index);
    const catalogue = createCatalogue([...commands, searching], this.#languageServers, formatters);
    return new Map([
      ...[...catalogue].map(([name, tool]) => [name, reportingNames(tool, guard)] as const),
      ...web,
      ...undoing,
      ...named,
    ]);
  }

  #newFinder(signal: AbortSignal): Finder {
    const { workspace } = this.#ground;
    const finding = {
      workspace,
      ledger: this.#ledger,
      looker: this.#looker,
      readPage,
      skills: this.#ground.skills,
      readShowable: () => this.#readFindable(),
      worktreeOf: async (conversationId: string) =>
        await this.#ground.worktrees?.rooms.lookedOf(conversationId),
      code: {
        index: this.#index,
        modes: this.#ground.config.codeInPrompt ?? ['agent', 'plan', 'ask'],
      },
      readDiagnostics: async (used: readonly string[], { readable, signal }: Reading) => {
        const asked = { used, readable, signal };
        const found = await editorDiagnostics(this.link, asked);
        return found ?? (await usedFileDiagnostics(this.#languageServers, asked));
      },
    };
    return new Finder(finding, signal);
  }

  #newCompletion(signal: AbortSignal): Completion {
    const { workspace } = this.#ground;
    const readEditor = editorReader(this.link, workspace);
    return new Completion({
      workspace,
      readPolicy: async () => {
        const { mayName, mayRead } = await this.#readFindable();
        return (path) => mayName(path) && mayRead(path);
      },
      readOpen: async () => {
        const editor = await readEditor(await this.#readFindable());
        return editor?.openFiles.map(({ path }) => path) ?? [];
      },
      signal,
    });
  }

  #readFindable(): ReturnType<typeof readFindable> {
    const { surroundings, trust } = this.#ground;
    return readFindable(surroundings, trust.isDistrusted);
  }

  #newServers(): McpServers {
    const { config, workspace, confinement, guard, offers } = this.#ground;
    return new McpServers({
      workspace: workspace.root,
      file: serverFileIn(config.stateDir),
      offers,
      environment: config.environment,
      sandbox: { confinement, guard },
      onChange: () => this.#serverFeed.update(),
    });
  }

  #newSession(): CallSession {
    const { workspace, journal, checkpoints, offers, worktrees, grantees } = this.#ground;
    const { surroundings, trust } = this.#ground;
    const devices = this.#newDeviceAsker();
    return new CallSession({
      workspace,
      journal,
      devices,
      asking: this.#newAsking(devices),
      tools: { get: (name) => this.#tools.get(name) ?? offers.find(name) },
      judge: createJudge(surroundings, trust),
      hooks: this.#newHooks(),
      ledger: this.#ledger,
      offers: this.#offerFeed,
      reports: [this.#serverFeed, this.#grantFeed],
      grantees,
      audit: this.#audit,
      guests: this.#guests,
      processes: (ask) => reportProcesses(this.#ground.book, this.#ports, ask),
      enrol: (request) => this.#enrolling.enrol(request),
      findFiles: (query) => this.#completion.find(query),
      policy: () => reportPolicy(surroundings),
      look: (message, grantee) => this.#look(message, grantee),
      elsewhere: worktrees?.rooms ?? NO_ROOMS,
      checkpoints,
    });
  }

  #newHooks(): Hooks {
    const { config, workspace, confinement, trust } = this.#ground;
    const { isDistrusted } = trust;
    const onRun = ({ call, hook: { source, command }, answer }: HookRun) => {
      const { conversationId: conversation, callId, tool, isPrivate } = call;
      const reason = answer.decision === 'none' || isPrivate ? undefined : answer.reason;
      const said = { source, command, decision: answer.decision, reason };
      this.#audit.note({ type: 'hook', conversation, call: callId, tool, ...said });
    };
    const { stateDir } = config;
    return new Hooks({ workspace, stateDir, confinement, isDistrusted, onRun });
  }

  #newDeviceAsker(): DeviceAsker {
    const { config } = this.#ground;
    return new DeviceAsker({
      keys: () => devicesOf(config),
      needsPasskey: config.devicesNeedPasskey,
      onRefused: (answer, why) => this.#session.sendRefusal(answer, why),
      onUsed: (deviceId) =>
        void noteDeviceUse(join(config.stateDir, 'device-uses.json'), deviceId, new Date()),
    });
  }

  #newAsking(devices: DeviceAsker): Asking {
    const { config, journal, answered } = this.#ground;
    const { bridgeId, stateDir, asksAtTerminal, devicesMayAllowAlways } = config;
    const terminal = asksAtTerminal && createTerminalPrompt(process.stdin, process.stderr);
    const here = terminal ? [terminalAsker(terminal)] : [];
    return new Asking({
      bridgeId,
      book: journal,
      askers: [devices, this.link.asker, ...here],
      devicesMayAllowAlways,
      onLasting: async ({ conversationId, proposal }, { scope, pattern }) => {
        const rules = rulesOf(proposal, pattern, new Date());
        if (scope === 'conversation') return answered.add(conversationId, rules);
        await addRules(ownersFiles(stateDir, undefined).project, rules);
      },
      onAnswered: ({ conversationId, callId, nonce, proposal }, { by, ...answer }) => {
        const ids = { conversation: conversationId, call: callId, tool: proposal.tool, nonce };
        this.#audit.note({ type: 'answer', ...ids, ...answer, by });
      },
      onRequested: (open) => this.#session.sendQuestion(open),
      onResolved: (question, resolution) => this.#session.sendResolution(question, resolution),
    });
  }
}

/** A server for vectors gets the files that the model may get unasked. */
function sendable({
  mayVolunteer,
  mayRead,
}: Awaited<ReturnType<typeof readFindable>>): (path: string) => boolean {
  return (path) => mayVolunteer(path) && mayRead(path);
}

/** Those with rules of the owner: for all projects, then for this one. */
function ownersFolders({ configDir, stateDir }: PartsConfig): readonly string[] {
  return configDir === undefined ? [stateDir] : [configDir, stateDir];
}

function editorReader(link: EditorLink, workspace: Workspace): NonNullable<Looked['readEditor']> {
  return async (showable) =>
    link.view && (await editorContext(link.view, { workspace, ...showable }));
}

/** Reads rules, definitions or skills. Undefined where the disk fails: the model keeps what it knows. */
function reading<Found>(
  source: { look(look: RuleLook): Promise<Found | undefined> },
  signal: AbortSignal,
): (showable: ShowableNames, listed?: RuleLook['listed']) => Promise<Found | undefined> {
  return async (showable, listed) => {
    try {
      return await source.look({ ...showable, listed, signal });
    } catch {
      signal.throwIfAborted();
      return undefined;
    }
  };
}
