import { PassThrough } from 'node:stream';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { readMessage } from '../../../cli/chat/message.ts';
import { CLI_LIMITS } from '../../../cli/limits.ts';
import { UsageError } from '../../../cli/terminal/usage-error.ts';
import { REQUEST_LIMITS } from '../../../shared/limits.ts';

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
});

describe('input beside a prompt', () => {
  it('that stays silent is left out after a while, and the person reads so', async () => {
    const { message, notices, piped } = read(['Explain']);
    await vi.advanceTimersByTimeAsync(CLI_LIMITS.firstInputMs);
    expect(await message).toBe('Explain');
    expect([piped.destroyed, notices]).toEqual([
      true,
      [expect.stringContaining('nothing came on stdin')],
    ]);
  });

  it('is read to its end once it begins, however slow it is', async () => {
    const { message, notices, piped } = read(['Explain']);
    piped.write('one\n');
    await vi.advanceTimersByTimeAsync(CLI_LIMITS.firstInputMs * 10);
    piped.end('two\n');
    expect([await message, notices]).toEqual(['Explain\n\none\ntwo\n', []]);
  });

  it('is waited for where the prompt has a "-"', async () => {
    const { message, piped } = read(['Explain', '-', 'now']);
    await vi.advanceTimersByTimeAsync(CLI_LIMITS.firstInputMs * 10);
    piped.end('late');
    expect(await message).toBe('Explain now\n\nlate');
  });

  it.each(['', ' \n'])('that is empty adds nothing: %j', async (input) => {
    const { message, piped } = read(['Explain']);
    piped.end(input);
    expect(await message).toBe('Explain');
  });

  it('is whole where a character was cut in two', async () => {
    const { message, piped } = read([]);
    const bytes = Buffer.from('Grüße');
    piped.write(bytes.subarray(0, 3));
    piped.end(bytes.subarray(3));
    expect(await message).toBe('Grüße');
  });

  it('that fails is a usage error', async () => {
    const { message, piped } = read(['Explain']);
    piped.destroy(new Error('EISDIR: a folder'));
    await expect(message).rejects.toThrow('The piped input cannot be read: EISDIR: a folder');
  });
});

describe('a message', () => {
  it('is the words of the prompt where nothing is piped in', async () => {
    const terminal = { piped: null, write: () => {} };
    expect(await readMessage(terminal, ['Fix', 'it', '-'])).toBe('Fix it');
  });

  it('may hold so many characters and no more', async () => {
    const { maxMessageChars } = REQUEST_LIMITS;
    const fits = read(['Hi']);
    fits.piped.end('x'.repeat(maxMessageChars - 4));
    expect(await fits.message).toHaveLength(maxMessageChars);
    const tooLong = read(['Hi']);
    tooLong.piped.end('x'.repeat(maxMessageChars - 3));
    await expect(tooLong.message).rejects.toThrow(
      new UsageError(
        'The message is too long: it has 500001 characters and may have at most 500000.',
      ),
    );
  });
});

function read(words: string[]) {
  const piped = new PassThrough();
  const notices: string[] = [];
  const message = readMessage({ piped, write: (text) => void notices.push(text) }, words);
  // A rejection is looked at by the test, later.
  message.catch(() => {});
  return { message, notices, piped };
}
