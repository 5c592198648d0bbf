/** The bridge of one workspace: runs its features and its calls, and ends them without leaving a process. */

import { join } from 'node:path';
import type { BridgeStatus } from '../machine/bridge-status.ts';
import { computeFor } from '../machine/compute/owner.ts';
import { addRules } from '../machine/owner-rules.ts';
import { type GuestCalls, ReadLedger } from '../packages/host/index.ts';
import { stopProcess } from '../packages/sandbox/index.ts';
import { DeviceAsker, terminalAsker } from './admission/askers.ts';
import { Asking } from './admission/asking.ts';
import { devicesOf, noteDeviceUse } from './admission/devices.ts';
import { Enrolling } from './admission/enrolling.ts';
import { rulesOf } from './admission/lasting.ts';
import { ownersFiles } from './admission/rules.ts';
import { createTerminalPrompt } from './admission/terminal.ts';
import type { BridgeConfig } from './config.ts';
import { Finder } from './context/finder.ts';
import { lookAs } from './context/grantee-look.ts';
import { Looker } from './context/looker.ts';
import type { Feature } from './feature.ts';
import { newFeatures } from './features.ts';
import { type OpenGround, onGround } from './ground.ts';
import { serve } from './tunnel/serving.ts';
import { type Answers, CallSession } from './tunnel/session.ts';
import type { Rooms } from './worktrees/rooms.ts';
import { openRooms } from './worktrees/worktrees.ts';

/** Runs until the signal aborts, or until the server refuses the bridge for good. `onStatus` gets a refusal. */
export async function runBridge(config: BridgeConfig, signal: AbortSignal): Promise<void> {
  // All that it begins from here on computes in turns with the bridges of other folders in this process.
  await computeFor(config.bridgeId, () => onGround(config, signal, runOn));
}

async function runOn(ground: OpenGround): Promise<void> {
  const { config, workspace, confinement, guard, owner, signal } = ground;
  let session: CallSession | undefined;
  let [callsEnded, roomsEnded] = [Promise.resolve(), Promise.resolve()];
  const features = newFeatures({ ...ground, cancel: (callId) => session?.cancel(callId) });
  try {
    const rooms = await openRooms({
      workspace: { kind: 'workspace', workspace, confinement, guard },
      furnishing: {
        features,
        judgeIn: ({ kind, workspace: { root } }) =>
          owner.judgeIn(kind === 'worktree' ? root : undefined),
      },
      stateDir: config.stateDir,
      isForeign: (path) => guard.isForeign(path),
      readShowable: owner.readShowable,
    });
    try {
      const ledger = new ReadLedger();
      const looker = new Looker(
        {
          root: workspace.root,
          confinement,
          readShowable: owner.readShowable,
          pieces: features.flatMap(({ look }) => look ?? []),
        },
        signal,
      );
      const finder = new Finder(
        {
          workspace,
          ledger,
          looker,
          readShowable: owner.readFindable,
          worktreeOf: (conversationId) => rooms.lookedOf(conversationId),
          pieces: features.flatMap(({ finds }) => finds ?? []),
        },
        signal,
      );
      session = newSession(ground, { features, rooms, ledger, finder });
      await serveCalls(ground, { features, rooms, looker, session });
    } finally {
      callsEnded = session?.end() ?? Promise.resolve();
      roomsEnded = rooms.end();
    }
  } finally {
    const over = callsEnded.catch(() => undefined); // Reported below.
    const ends = features.map(async ({ end }) => await end?.(over));
    const all = [callsEnded, roomsEnded, ...ends];
    await Promise.allSettled(all); // Nothing may stand on the ground any more, also where one end fails.
    await Promise.all(all);
  }
}

interface SessionParts {
  readonly features: readonly Feature[];
  readonly rooms: Rooms;
  readonly ledger: ReadLedger;
  readonly finder: Finder;
}

function newSession(
  ground: OpenGround,
  { features, rooms, ledger, finder }: SessionParts,
): CallSession {
  const { config, journal, owner, audit, grantees } = ground;
  const { bridgeId, stateDir, machineDir = stateDir } = config;
  const devices = new DeviceAsker({
    keys: () => devicesOf(config),
    needsPasskey: config.devicesNeedPasskey,
    onRefused: (answer, why) => session.sendRefusal(answer, why),
    onUsed: (deviceId) =>
      void noteDeviceUse(join(stateDir, 'device-uses.json'), deviceId, new Date()),
  });
  const terminal = config.asksAtTerminal && createTerminalPrompt(process.stdin, process.stderr);
  const asking = new Asking({
    bridgeId,
    book: journal,
    askers: [
      devices,
      ...features.flatMap(({ asker }) => asker ?? []),
      ...(terminal ? [terminalAsker(terminal)] : []),
    ],
    devicesMayAllowAlways: config.devicesMayAllowAlways,
    onLasting: async ({ conversationId, proposal }, { scope, pattern }) => {
      const rules = rulesOf(proposal, pattern, new Date());
      if (scope === 'conversation') return owner.answered.add(conversationId, rules);
      await addRules(ownersFiles(stateDir, undefined).project, rules);
    },
    onAnswered: ({ conversationId, callId, nonce, proposal }, { by, ...answer }) => {
      const ids = { conversation: conversationId, call: callId, tool: proposal.tool, nonce };
      audit.note({ type: 'answer', ...ids, ...answer, by });
    },
    onRequested: (open) => session.sendQuestion(open),
    onResolved: (question, resolution) => session.sendResolution(question, resolution),
  });
  const enrolling = new Enrolling({ bridgeId, machineDir, audit });
  const answers = {
    look: async ({ lookId, message, grantee }) => {
      const sight = await lookAs(grantee, { finder, grantees, rooms }, message);
      return { type: 'context', lookId, ...sight };
    },
    enrol: async ({ askId, device, mac }) => {
      const outcome = await enrolling.enrol({ device, mac });
      return { type: 'enrolled', askId, outcome };
    },
    policy: async ({ type, askId }) => ({ type, askId, policy: await owner.report() }),
  } satisfies Partial<Answers>;
  const session: CallSession = new CallSession({
    rooms,
    guards: features.flatMap(({ guard }) => guard ?? []),
    asking,
    devices,
    ledger,
    journal,
    grantees,
    audit,
    feeds: [...features.flatMap(({ feeds }) => feeds ?? []), grantees.feed],
    guests: features.find(({ guestCalls }) => guestCalls)?.guestCalls ?? NO_GUESTS,
    answers: Object.assign(answers, ...features.map((feature) => feature.answers)),
  });
  return session;
}

const NO_GUESTS: GuestCalls = {
  closed: () => undefined,
  end: () => {},
  refused: () => {},
  ended: () => {},
};

interface ServedParts extends Pick<SessionParts, 'features' | 'rooms'> {
  readonly looker: Looker;
  readonly session: CallSession;
}

/** Serves calls until the signal aborts, or until the server refuses the bridge. */
async function serveCalls(
  { config, bootId, journal, confinement, grantees, book, signal }: OpenGround,
  { features, rooms, looker, session }: ServedParts,
): Promise<void> {
  const { kind, detail } = confinement;
  const introduction = {
    bootId,
    tools: [...rooms.workspace.toolNames],
    confinement: { kind, detail },
    ...(config.machineId !== undefined && { machineId: config.machineId }),
    ...(config.moves && { moved: true as const }),
  };
  const served = {
    session,
    journal,
    introduction,
    looker,
    hello: async () => {
      const fields = await Promise.all(features.map(({ hello }) => hello?.()));
      return Object.assign(await grantees.hello(), ...fields);
    },
    onStatus: (status: BridgeStatus) => {
      // Only now: they would slow the bridge's own start.
      for (const { start } of features) start?.();
      config.onStatus(status);
    },
  };
  const refused = new AbortController();
  const ended = AbortSignal.any([signal, refused.signal]);
  const following = grantees.follow((names) => {
    session.endGrants(names);
    for (const conversationId of grantees.conversationsWithout(names)) {
      for (const process of book.list(conversationId)) void stopProcess(process, 'person');
    }
  }, ended);
  try {
    await serve(config, served, signal);
  } finally {
    refused.abort();
    await following;
  }
}
