import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { reportPolicy } from '../../../bridge/admission/policy-report.ts';
import { changeGrants } from '../../../bridge/grantees/grant-file.ts';
import { POLICY_LIMITS } from '../../../shared/limits.ts';
import { MachinePolicy } from '../../../shared/wire/policy.ts';
import { temporaryFolder } from '../tools/temporary-workspace.ts';

const SINCE = '2026-11-24T00:00:00.000Z';
const NOTHING = { preset: 'workspace', rules: [], ruleCount: 0, grants: [], problems: [] };

/** The folders of an owner with these files. */
async function owner(files: { readonly project?: unknown; readonly everywhere?: unknown } = {}) {
  const folder = await temporaryFolder();
  const place = { stateDir: join(folder, 'state'), configDir: join(folder, 'config') };
  const paths = { project: place.stateDir, everywhere: place.configDir };
  for (const dir of Object.values(paths)) mkdirSync(dir);
  const write = (which: keyof typeof paths, content: unknown) =>
    writeFileSync(join(paths[which], 'policy.json'), JSON.stringify(content));
  if (files.project) write('project', files.project);
  if (files.everywhere) write('everywhere', files.everywhere);
  return { ...place, write };
}

/** As the other end of the tunnel reads it. */
const report = async (place: Parameters<typeof reportPolicy>[0]) =>
  MachinePolicy.parse(JSON.parse(JSON.stringify(await reportPolicy(place))));

test('without files the usual preset counts', async () => {
  const place = await owner();
  expect(await report(place)).toEqual(NOTHING);
  expect(await report({ ...place, preset: 'ask' })).toEqual({ ...NOTHING, preset: 'ask' });
});

test('shows the rules of both files, and whom the machine lets in', async () => {
  const made = { permissions: ['network'], sandbox: true, answered: SINCE };
  const digest = 'a'.repeat(64);
  const place = await owner({
    everywhere: { preset: 'trusted', rules: [{ tool: 'edit', decision: 'ask' }] },
    project: {
      rules: [
        { tool: 'command', pattern: 'npm *', decision: 'allow', ...made },
        { tool: 'mcp:tickets', pattern: 'tickets/find', decision: 'allow', definition: digest },
      ],
    },
  });
  const grant = { name: 'ben', preset: 'ask', worktrees: true, since: SINCE } as const;
  await changeGrants(place.stateDir, () => [grant]);
  const id = expect.stringMatching(/^[0-9a-f]{8}$/);
  const own = { id, scope: 'project', decision: 'allow' };
  expect(await report({ ...place, preset: 'ask' })).toEqual({
    preset: 'trusted',
    rules: [
      { id, scope: 'everywhere', tool: 'edit', pattern: '*', decision: 'ask' },
      { ...own, tool: 'command', pattern: 'npm *', ...made },
      { ...own, tool: 'mcp:tickets', pattern: 'tickets/find' },
    ],
    ruleCount: 3,
    grants: [grant],
    problems: [],
  });
});

test('cuts what no frame takes, and keeps the last rules', async () => {
  const rules = Array.from({ length: POLICY_LIMITS.maxRules + 5 }, (_, index) => ({
    tool: 'command',
    pattern: `${index} ${'\u202e'.repeat(400)}`,
    decision: 'deny',
  }));
  const shown = await report(await owner({ project: { rules } }));
  expect(shown.ruleCount).toBe(rules.length);
  expect(shown.rules).toHaveLength(POLICY_LIMITS.maxRules);
  expect(shown.rules.at(0)?.pattern).toMatch(/^5 .*…$/u);
});

test('says which file is wrong, and that no rule is known then', async () => {
  const place = await owner({ project: { rules: 'none' } });
  writeFileSync(join(place.stateDir, 'grants.json'), '{"grants": [\u001b]}');
  const { problems, ...rest } = await report(place);
  expect(rest).toEqual({ preset: null, rules: [], ruleCount: 0, grants: [] });
  expect(problems).toEqual([
    expect.stringContaining('policy.json is not a file of rules'),
    expect.stringContaining('grants.json is no file of grants'),
  ]);
  place.write('project', { preset: 'ask' });
  place.write('everywhere', { preset: 'trusted' });
  chmodSync(join(place.configDir, 'policy.json'), 0o666);
  const [open = ''] = (await report(place)).problems;
  expect(open).toContain('Every user may change');
});
