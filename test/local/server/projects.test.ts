import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { whenAborted } from '../../../local/processes/beside.ts';
import {
  type ConnectRequest,
  Projects,
  type ProjectsOptions,
} from '../../../local/server/projects.ts';
import { sharedServerDir } from '../../../local/state/folder.ts';
import { openServerState } from '../../../local/state/state.ts';
import { newDeferred } from '../../../machine/deferred.ts';
import { temporaryFolder } from '../temporary-folder.ts';

test('the next bridge of a folder starts when the last one is over', async () => {
  const { projects, events, letEnd, request, other } = await newProjects();
  await projects.connect(request);
  const left = projects.disconnect(request.workspaceDir);
  const again = projects.connect(request);
  await projects.connect(other); // By then the other request is as far as it can come.
  letEnd();
  await Promise.all([left, again]);
  const { workspaceDir } = request;
  const own = events.filter((event) => event.endsWith(workspaceDir));
  expect(own).toEqual(['begins', 'ends', 'begins'].map((word) => `${word} ${workspaceDir}`));
});

test('each program that holds a folder counts, also while its bridge is started anew', async () => {
  const { projects, refuse, letEnd, request, other } = await newProjects();
  const [first, second, third] = heldThrice(request);
  await projects.connect(first);
  refuse();
  const both = [projects.connect(second), projects.connect(third)];
  await projects.connect(other);
  letEnd();
  await Promise.all(both);
  await projects.release(request.workspaceDir, second);
  await projects.release(request.workspaceDir, first);
  expect(projects.reports).toHaveLength(2);
  await projects.release(request.workspaceDir, third);
  expect(projects.reports).toHaveLength(1);
});

test('a program that leaves while the bridge is started anew no longer counts', async () => {
  const { projects, refuse, letEnd, request } = await newProjects();
  const [first, second] = heldThrice(request);
  await projects.connect(first);
  refuse();
  const again = projects.connect(second);
  await expect.poll(() => projects.reports).toEqual([]);
  await projects.release(request.workspaceDir, first);
  letEnd();
  await again;
  await projects.release(request.workspaceDir, second);
  expect(projects.reports).toEqual([]);
});

test('a program that held a folder until it was disconnected takes no later bridge away', async () => {
  const { projects, letEnd, request } = await newProjects();
  const [first, second] = heldThrice(request);
  letEnd();
  await projects.connect(first);
  await projects.disconnect(request.workspaceDir);
  await projects.connect(second);
  await projects.release(request.workspaceDir, first);
  expect(projects.reports).toHaveLength(1);
});

test('a folder whose bridge is started anew stays on the list, whatever is connected meanwhile', async () => {
  const { projects, refuse, letEnd, request, other, listed } = await newProjects();
  await projects.connect(request);
  refuse();
  const again = projects.connect(request);
  await projects.connect(other);
  letEnd();
  await again;
  expect(listed().sort()).toEqual([request.workspaceDir, other.workspaceDir].sort());
});

test('a server that ends takes no more folders', async () => {
  const { projects, letEnd, request, other } = await newProjects();
  letEnd();
  await projects.connect(request);
  const ended = projects.end();
  await expect(projects.connect(other)).rejects.toThrow('The server is ending');
  await ended;
  expect(projects.reports).toHaveLength(1);
});

/** The requests of three programs that hold the folder. */
function heldThrice(request: ConnectRequest) {
  const newHeld = () => ({ ...request, isHeld: true });
  return [newHeld(), newHeld(), newHeld()] as const;
}

/** Projects whose bridges connect at once. They end at their signal, once `letEnd` was called. */
async function newProjects() {
  vi.stubEnv('XDG_STATE_HOME', temporaryFolder());
  onTestFinished(() => void vi.unstubAllEnvs());
  const state = await openServerState(await sharedServerDir());
  const events: string[] = [];
  const tellers: Parameters<ProjectsOptions['host']['run']>[1][] = [];
  const ending = newDeferred<void>();
  const run: ProjectsOptions['host']['run'] = async ({ workspaceDir }, onNews, signal) => {
    events.push(`begins ${workspaceDir}`);
    tellers.push(onNews);
    onNews({ event: 'connected', confinement: { kind: 'none', detail: 'It is a test.' } });
    await whenAborted(signal).catch(() => {});
    await ending.promise;
    events.push(`ends ${workspaceDir}`);
  };
  const options = { url: 'http://127.0.0.1:1', onNotice: () => {}, keyNames: [] };
  const projects = new Projects({ ...options, state, kind: 'shared', host: { run } });
  const letEnd = () => ending.resolve();
  onTestFinished(async () => {
    letEnd();
    await projects.end();
  });
  const workspaceDir = temporaryFolder();
  const request = { workspaceDir, environment: {}, asksAtTerminal: false, isHeld: false };
  const other = { ...request, workspaceDir: temporaryFolder() };
  /** The server refuses the first bridge. */
  const refuse = () => tellers[0]?.({ event: 'refused', message: 'No.' });
  const listed = (): string[] =>
    JSON.parse(readFileSync(join(state.dir, 'projects.json'), 'utf8')).projects;
  return { projects, events, refuse, letEnd, request, other, listed };
}
