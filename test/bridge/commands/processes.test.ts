import { describe, expect, test } from 'vitest';
import { judgeCall, type Policy } from '../../../bridge/admission/policy.ts';
import { createControlProcess } from '../../../bridge/commands/control-process.ts';
import { Egress } from '../../../packages/sandbox/egress/egress.ts';
import { TERMINAL_LIMITS } from '../../../packages/sandbox/terminal/limits.ts';
import { BoundedOutput } from '../../../packages/sandbox/terminal/output.ts';
import { OPEN } from '../../../packages/sandbox/test/egress/proxied.ts';
import { aboutCommand } from '../../../packages/sandbox/test/terminal/plain-launch.ts';
import { REGISTRIES } from '../../../shared/tools/registries.ts';
import { background, call, context, tools } from './command-tools.ts';

/** A command that has ended, in the book alone; its id. */
function ended(printed = '', { command = 'sleep 60', conversationId = 'conv_test' } = {}): string {
  const output = new BoundedOutput(TERMINAL_LIMITS.keptTailChars);
  output.append(printed);
  const end = { state: 'exited', exitCode: 0 } as const;
  const nowMs = Date.now();
  const state = { state: 'ended', end, endedAtMs: nowMs } as const;
  const about = { ...aboutCommand(command), conversationId };
  return background.book.add(about, { output, startedAtMs: nowMs, state }).id;
}

const { maxHeadChars, maxPageChars, keptTailChars } = TERMINAL_LIMITS;

describe('a process', () => {
  test('that has ended is read on from what its result left out', async () => {
    const printed = Array.from({ length: 20_000 }, (_, at) => `${at}\n`).join('');
    const process_id = ended(printed);
    let all = printed.slice(0, maxHeadChars);
    for (let cursor = maxHeadChars; cursor < printed.length; ) {
      const { data, metadata } = await call('read_process', { process_id });
      const next = Number(metadata?.['cursor']);
      expect(data).toContain(`Output from ${cursor} to ${next} of ${printed.length} characters`);
      all += data.slice(data.indexOf(`cursor is ${next}.\n`) + `cursor is ${next}.\n`.length);
      cursor = next;
    }
    expect(all).toBe(printed);
    const { data } = await call('read_process', { process_id, cursor: -6 });
    expect(data).toMatch(/\n19999\n$/);
  });

  test('whose output is no longer kept says so, and never that a pattern does not match', async () => {
    const process_id = ended('x'.repeat(maxHeadChars + maxPageChars + keptTailChars));
    const from = maxHeadChars + maxPageChars;
    const read = await call('read_process', { process_id });
    expect(read.data).toContain(`Characters ${maxHeadChars} to ${from} are no longer kept.`);
    const searched = await call('read_process', { process_id, cursor: 0, pattern: 'y' });
    expect(searched.data).toContain('Some of the output was gone before it could be searched.');
  });

  test('is known to its own conversation alone', async () => {
    const process_id = ended('', { conversationId: 'conv_own' });
    const other = { conversationId: 'conv_other' };
    const refused = { status: 'error', code: 'NO_SUCH_PROCESS' };
    expect(await call('read_process', { process_id }, other)).toMatchObject(refused);
    expect(await call('control_process', { process_id, stop: true }, other)).toMatchObject(refused);
    expect((await call('read_process', {}, other)).data).toBe(
      'This conversation has no processes.',
    );
    expect((await call('read_process', {}, { conversationId: 'conv_own' })).data).toMatch(
      new RegExp(`^${process_id}: sleep 60 \\(in \\.\\)\\. Exit code: 0 \\d`),
    );
  });

  test('is not controlled by a call that means nothing or two things, or after its end', async () => {
    const process_id = ended();
    for (const args of [{}, { stop: true, input: 'x' }, { stop: false }]) {
      expect(await call('control_process', { process_id, ...args })).toMatchObject({
        code: 'INVALID_ARGUMENTS',
      });
    }
    for (const args of [{ input: 'x' }, { close_input: true }]) {
      expect(await call('control_process', { process_id, ...args })).toMatchObject({
        code: 'NO_INPUT',
      });
    }
    expect(await call('control_process', { process_id, stop: true })).toMatchObject({
      status: 'success',
    });
  });
});

describe('the rules', () => {
  async function decide(
    name: string,
    args: Record<string, unknown>,
    policy: Partial<Policy> & { mode?: 'agent' | 'ask' } = {},
  ): Promise<string> {
    const tool = tools.find(({ definition }) => definition.name === name);
    if (tool === undefined) throw new Error(name);
    const { mode = 'agent', ...rest } = policy;
    const { args: read, subjects } = tool.read(args, 'conv_test');
    const call = { definition: tool.definition, args: read, subjects, mode };
    const book = { workspace: '/w', isConfined: false, userRules: [], workspaceRules: [] };
    return judgeCall(call, { ...book, ...rest }).decision;
  }

  test('ask about input outside of a sandbox, and about nothing that only reads or stops', async () => {
    const id = ended();
    expect([
      await decide('control_process', { process_id: id, input: 'rm -r x\n' }),
      await decide('control_process', { process_id: id, stop: true }),
      await decide('read_process', { process_id: id }),
      await decide('read_process', {}, { mode: 'ask' }),
      await decide('control_process', { process_id: id, stop: true }, { mode: 'ask' }),
    ]).toEqual(['ask', 'allow', 'allow', 'allow', 'deny']);
  });

  test('ask in the sandbox about input that deletes work, as about a command', async () => {
    const process_id = ended('', { command: 'bash' });
    const sent = (input: string) =>
      decide('control_process', { process_id, input }, { isConfined: true });
    expect([await sent('ls\n'), await sent('rm -rf src\n')]).toEqual(['allow', 'ask']);
  });

  test('hold the input to the hosts that its command named, and the question shows them', async () => {
    for (const permissions of [[], ['network']] as const) {
      const started = await call('run_terminal_cmd', {
        command: 'cat',
        is_background: true,
        hosts: ['evil.test'],
        permissions,
      });
      const process_id = String(started.metadata?.['process_id']);
      const policy = { isConfined: true, opensHosts: true };
      const input = { process_id, input: 'curl https://evil.test\n' };
      const rules = ['evil.test', ...REGISTRIES].map((pattern) => ({
        tool: 'network',
        pattern,
        decision: 'allow' as const,
      }));
      expect([
        await decide('control_process', input, policy),
        await decide('control_process', input, { ...policy, userRules: rules }),
        await decide('control_process', { process_id, stop: true }, policy),
      ]).toEqual(['ask', 'allow', 'allow']);
      const tool = createControlProcess({ background, egress: new Egress(async () => OPEN) });
      const { proposal } = await tool.read(input, 'conv_test').propose({
        ...context,
        places: [await context.workspace.resolve('.', 'read')],
      });
      expect(proposal).toMatchObject({
        arguments: { permissions: expect.arrayContaining(['network:evil.test']) },
      });
      await call('control_process', { process_id, stop: true });
    }
  });

  test('hold the input as a command of its own, and as the command that gets it', async () => {
    const id = ended();
    const input = { process_id: id, input: 'git push' };
    const rule = (pattern: string, decision: 'allow' | 'deny', tool = 'command') => ({
      tool,
      pattern,
      decision,
    });
    const all = rule('*', 'allow');
    expect([
      await decide('control_process', input, { userRules: [all] }),
      await decide('control_process', input, { userRules: [rule('sleep*', 'allow')] }),
      await decide('control_process', input, { userRules: [all, rule('git push*', 'deny')] }),
      await decide('control_process', input, {
        userRules: [all, rule('sleep*', 'deny', 'run_terminal_cmd')],
      }),
    ]).toEqual(['allow', 'ask', 'deny', 'deny']);
  });
});
