import { expect, test } from 'vitest';
import { type Looked, Looker } from '../../../bridge/context/looker.ts';
import { type TemporaryWorkspace, temporaryWorkspace } from '../tools/temporary-workspace.ts';

const live = new AbortController().signal;
const SHOWS_ALL = { mayName: () => true, mayVolunteer: () => true, mayRead: () => true };

test('a look begins after its question, and those who ask meanwhile share it', async () => {
  const place = await temporaryWorkspace();
  await place.put('a.txt', '');
  const { looked, begun, letGo } = heldLook(place);
  const looker = new Looker(looked, live);
  const first = looker.look();
  const later = [looker.look(), looker.look()];
  await place.put('b.txt', '');
  letGo();
  await first;
  expect((await Promise.all(later)).map(({ projectLayout }) => projectLayout)).toEqual([
    'a.txt\nb.txt',
    'a.txt\nb.txt',
  ]);
  expect(begun()).toBe(2);
});

test('a look after one that failed is made anew', async () => {
  const place = await temporaryWorkspace();
  const { looked, letGo } = heldLook(place);
  letGo();
  let isBroken = true;
  const readShowable: Looked['readShowable'] = async () => {
    if (isBroken) throw new Error('broken');
    return SHOWS_ALL;
  };
  const looker = new Looker({ ...looked, readShowable }, live);
  const failing = looker.look();
  await expect(failing).rejects.toThrow('broken');
  isBroken = false;
  expect(await looker.look()).toMatchObject({ workspacePath: place.root });
});

/** Looks wait for `letGo` before they begin. */
function heldLook(place: TemporaryWorkspace) {
  let count = 0;
  const gate = Promise.withResolvers<void>();
  const readShowable: Looked['readShowable'] = async () => {
    count++;
    await gate.promise;
    return SHOWS_ALL;
  };
  const confinement = { confineLook: async (launch: unknown) => launch };
  const looked = { root: place.root, confinement, readShowable, pieces: [] } as unknown as Looked;
  return { looked, begun: () => count, letGo: gate.resolve };
}
