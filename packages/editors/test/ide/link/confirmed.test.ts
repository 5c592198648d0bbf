import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, expect, test } from 'vitest';
import { temporaryFolder } from '../../../../../test/local/temporary-folder.ts';
import { confirmCompanion, identityOf, isConfirmed } from '../../../ide/link/confirmed.ts';
import { LINK_LIMITS } from '../../../ide/link/limits.ts';

let stateDir: string;
beforeEach(() => {
  stateDir = temporaryFolder();
});

const file = () => join(stateDir, 'editors.json');
const companion = { port: 4001, token: 'secret-of-this-window' };

test('a companion counts after its confirmation: with its port and token, and with no other', async () => {
  expect(await isConfirmed(stateDir, companion)).toBe(false);
  await confirmCompanion(stateDir, companion);
  expect(await isConfirmed(stateDir, companion)).toBe(true);
  expect(await isConfirmed(stateDir, { ...companion, token: 'of the next start' })).toBe(false);
  expect(await isConfirmed(stateDir, { ...companion, port: 4002 })).toBe(false);
});

test('the file is private and holds no token', async () => {
  await confirmCompanion(stateDir, companion);
  expect(statSync(file()).mode & 0o777).toBe(0o600);
  expect(readFileSync(file(), 'utf8')).not.toContain(companion.token);
  expect(JSON.parse(readFileSync(file(), 'utf8'))).toEqual({ confirmed: [identityOf(companion)] });
});

test.each([undefined, ''])('a companion with the token %j cannot be confirmed', async (token) => {
  const open = { port: 4001, ...(token !== undefined && { token }) };
  await expect(confirmCompanion(stateDir, open)).rejects.toThrow('token');
  expect(await isConfirmed(stateDir, open)).toBe(false);
});

test.each(['', '{', '{"confirmed":["x"]}', '[]'])(
  'a damaged file (%j) confirms nothing, and is replaced',
  async (text) => {
    writeFileSync(file(), text);
    expect(await isConfirmed(stateDir, companion)).toBe(false);
    await confirmCompanion(stateDir, companion);
    expect(await isConfirmed(stateDir, companion)).toBe(true);
  },
);

test('the newest are kept', async () => {
  for (let port = 1; port <= LINK_LIMITS.maxConfirmed + 1; port++) {
    await confirmCompanion(stateDir, { ...companion, port });
  }
  expect(await isConfirmed(stateDir, { ...companion, port: 1 })).toBe(false);
  expect(await isConfirmed(stateDir, { ...companion, port: 2 })).toBe(true);
});
