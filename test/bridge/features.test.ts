/** The features of a bridge together: one without its line in bridge/features.ts is missing in every bridge. */
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, expect, it } from 'vitest';
import type { Feature } from '../../bridge/feature.ts';
import { newFeatures } from '../../bridge/features.ts';
import { onGround } from '../../bridge/ground.ts';
import type { Answers } from '../../bridge/tunnel/session.ts';
import { openRooms } from '../../bridge/worktrees/worktrees.ts';
import { OWN_TOOLS, toolsRunBy } from '../../shared/tools/catalogue.ts';
import { BRIDGE_ID } from './spawned-bridge.ts';
import { temporaryWorkspace } from './tools/temporary-workspace.ts';

let features: readonly Feature[];
let toolNames: readonly string[];

/** A bridge on a machine with git, whose owner has set up what some tools need. */
beforeEach(async () => {
  const { root } = await temporaryWorkspace();
  const stateDir = join(root, '..', 'state');
  await mkdir(stateDir);
  const config = {
    url: 'http://127.0.0.1:1',
    token: 'secret',
    bridgeId: BRIDGE_ID,
    workspaceDir: root,
    stateDir,
    environment: {},
    asksAtTerminal: false,
    webSearch: { shape: 'searxng' },
    onStatus: () => {},
  } as const;
  const ending = new AbortController();
  await onGround(config, ending.signal, async (ground) => {
    const { workspace, confinement, guard, owner } = ground;
    features = newFeatures({ ...ground, cancel: () => {} });
    const rooms = await openRooms({
      workspace: { kind: 'workspace', workspace, confinement, guard },
      furnishing: { features, judgeIn: () => owner.judgeIn(undefined) },
      stateDir,
      isForeign: (path) => guard.isForeign(path),
      readShowable: owner.readShowable,
    });
    toolNames = rooms.workspace.toolNames;
    ending.abort();
    const ends = features.map(async ({ end }) => await end?.(Promise.resolve()));
    await Promise.all([rooms.end(), ...ends]);
  });
});

it('the workspace has every tool that the catalogue says a bridge runs', () => {
  const catalogue = [...toolsRunBy('bridge'), ...OWN_TOOLS].map(({ name }) => name);
  expect(toolNames.toSorted()).toEqual(catalogue.toSorted());
});

it('features answer every kind of question that the bridge itself does not', () => {
  const expected: Record<Exclude<keyof Answers, 'look' | 'enrol' | 'policy'>, unknown> = {
    files: expect.any(Function),
    offers_wanted: expect.any(Function),
    processes: expect.any(Function),
  };
  expect(Object.assign({}, ...features.map(({ answers }) => answers))).toEqual(expected);
});
