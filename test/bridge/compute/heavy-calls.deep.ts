/** What a model can send at worst: it is answered, and the loop turns meanwhile. */
import { describe, expect, it } from 'vitest';
import { temporaryWorkspace } from '../tools/temporary-workspace.ts';
import { MOST_STANDSTILL_MS, shortestStandstill } from './heartbeat.ts';

const MARK = '// ... existing code ...';
const LINES = 450_000;

describe('a call with an extreme input', () => {
  it('merges an edit with 2,000 markers into 450,000 lines', async () => {
    const text = Array.from({ length: LINES }, (_, at) => `line ${at}\n`).join('');
    const edit = [MARK];
    for (let at = 100; at < LINES; at += LINES / 2_000) {
      edit.push(`line ${at}`, `between ${at}`, `line ${at + 1}`, MARK);
    }
    const args = { target_file: 'a.ts', code_edit: edit.join('\n') };
    const { result, standstillMs } = await shortestStandstill(async () => {
      const { call } = await temporaryWorkspace({ 'a.ts': text });
      return async () => await call('edit_file', args);
    });
    expect(result).toMatchObject({
      status: 'success',
      data: expect.stringMatching(
        /^Edited a\.ts \(450000 lines before, 452000 now\)\.\n[\s\S]{1,2000}$/,
      ),
    });
    expect(standstillMs).toBeLessThan(MOST_STANDSTILL_MS);
  });

  it.each([
    ['lines that all are equal', 'x', 'AMBIGUOUS'],
    ['blank lines', '', 'NO_ANCHOR'],
    ['brackets', '}', 'AMBIGUOUS'],
  ])('answers an edit with 2,000 markers in a file of %s', async (_, line, code) => {
    const edit = `${MARK}\n${line}\nnew\n${line}\n`.repeat(2_000) + MARK;
    const { call } = await temporaryWorkspace({ 'a.ts': `${line}\n`.repeat(LINES) });
    const { result, standstillMs } = await shortestStandstill(
      async () => async () => await call('edit_file', { target_file: 'a.ts', code_edit: edit }),
    );
    expect(result).toMatchObject({ status: 'error', code });
    expect(standstillMs).toBeLessThan(MOST_STANDSTILL_MS);
  });

  it.each([
    ['stands there everywhere', 'x\n'.repeat(10_000), 'AMBIGUOUS'],
    ['stands there nearly', ' x\n'.repeat(10_000), 'AMBIGUOUS'],
    ['nearly stands there everywhere', `${'x\n'.repeat(100_000)}y`, 'NOT_FOUND_IN_FILE'],
    ['begins otherwise', `y${'x\n'.repeat(100_000)}`, 'NOT_FOUND_IN_FILE'],
  ])('answers a str_replace of a text that %s', async (_, old_string, code) => {
    const { call } = await temporaryWorkspace({ 'a.txt': 'x\n'.repeat(LINES) });
    const args = { file_path: 'a.txt', old_string, new_string: 'new text\n'.repeat(10_000) };
    const { result, standstillMs } = await shortestStandstill(
      async () => async () => await call('str_replace', args),
    );
    expect(result).toMatchObject({ status: 'error', code });
    expect(standstillMs).toBeLessThan(MOST_STANDSTILL_MS);
  });

  it('answers a question of 20,000 words and says that it was cut', async () => {
    const { call } = await temporaryWorkspace({
      'src/retry.ts': 'export function retryLater() {}\n',
    });
    const query = `retry later ${Array.from({ length: 10_000 }, (_, n) => `back word${n}`).join(' ')}`;
    const { result, standstillMs } = await shortestStandstill(
      async () => async () => await call('codebase_search', { query }),
    );
    expect(result).toMatchObject({ status: 'success' });
    expect(result.data).toContain('src/retry.ts:1-1');
    expect(result.data).toContain('Only the first');
    expect(standstillMs).toBeLessThan(MOST_STANDSTILL_MS);
  });

  it.each([
    ['UTF-8', Buffer.from('grüne Wörter\n'.repeat(1_350_000))],
    ['no UTF-8', Buffer.from('gr\xfcne W\xf6rter\n'.repeat(1_350_000), 'latin1')],
    ['line ends alone', Buffer.alloc(20_000_000, '\n')],
  ])('reads the end of a large file of %s', async (_, bytes) => {
    const { call } = await temporaryWorkspace({ 'a.txt': bytes });
    const { result, standstillMs } = await shortestStandstill(
      async () => async () => await call('read_file', { target_file: 'a.txt', offset: -2 }),
    );
    expect(result).toMatchObject({ status: 'success' });
    expect(standstillMs).toBeLessThan(MOST_STANDSTILL_MS);
  });

  it('says what changed in a large file since it was read', async () => {
    const text = 'line\n'.repeat(LINES);
    const args = { file_path: 'a.txt', old_string: 'x', new_string: 'y' };
    const { result, standstillMs } = await shortestStandstill(async () => {
      const { call, put } = await temporaryWorkspace({ 'a.txt': text });
      await call('read_file', { target_file: 'a.txt', limit: 1 });
      await put('a.txt', `${text}x\n`);
      return async () => await call('str_replace', args);
    });
    expect(result).toMatchObject({ code: 'STALE' });
    expect(result.data).toContain(`around lines ${LINES}-${LINES + 1}`);
    expect(standstillMs).toBeLessThan(MOST_STANDSTILL_MS);
  });

  it.each([
    ['UTF-16', Buffer.from(`\uFEFF${'needle in hay\n'.repeat(300_000)}`, 'utf16le')],
    ['one long line', Buffer.from('needle '.repeat(300_000))],
    ['many short lines', Buffer.from('needle\n'.repeat(600_000))],
  ])('searches a file of %s', async (_, bytes) => {
    const { call } = await temporaryWorkspace({ 'a.txt': bytes });
    const args = { pattern: 'needle', output_mode: 'content', head_limit: 1_000 };
    const { result, standstillMs } = await shortestStandstill(
      async () => async () => await call('grep', args),
    );
    expect(result).toMatchObject({ status: 'success' });
    expect(standstillMs).toBeLessThan(MOST_STANDSTILL_MS);
  });

  it('answers a question about large files', async () => {
    const source = Array.from(
      { length: 25_000 },
      (_, at) => `function retry${at}Request(context) { log(context); }\n`,
    )
      .join('')
      .slice(0, 1_000_000);
    const files = Object.fromEntries(
      Array.from({ length: 8 }, (_, at) => [`src/${at}.ts`, source]),
    );
    const { call } = await temporaryWorkspace(files);
    const args = { query: 'Where is a request retried and its context logged?' };
    const { result, standstillMs } = await shortestStandstill(
      async () => async () => await call('codebase_search', args),
    );
    expect(result).toMatchObject({ status: 'success' });
    expect(result.data).toMatch(/^\d+ places?\b|src\/0\.ts:/);
    expect(standstillMs).toBeLessThan(MOST_STANDSTILL_MS);
  });
});
