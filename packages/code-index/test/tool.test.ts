import { execFileSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { findTool } from '../../../shared/tools/catalogue.ts';
import { temporaryWorkspace } from '../../../test/bridge/tools/temporary-workspace.ts';
import { keepFoldersInMemory } from '../../../test/in-memory.ts';
import { CODEBASE_LIMITS } from '../search/codebase/limits.ts';

keepFoldersInMemory();

const FILES = {
  'src/main.py': 'from flask import Flask\n\napp = Flask(__name__)\n\n\n',
  'src/other.py': 'x = 1\n',
  'docs/flask.md': '# Flask\n',
};

describe('codebase_search', () => {
  it.each([
    [
      'a place with its lines',
      { target_directories: ['src'] },
      'src/main.py:1-3\n1|from flask import Flask\n2|\n3|app = Flask(__name__)\n\n(1 place: found by the words of the question.)',
    ],
    [
      'one file',
      { target_directories: ['docs/flask.md'], explanation: 'why not' },
      'docs/flask.md:1-1\n1|# Flask\n\n(1 place: found by the words of the question.)',
    ],
    [
      'several places, the best first',
      {},
      'src/main.py:1-3\n1|from flask import Flask\n2|\n3|app = Flask(__name__)\n\ndocs/flask.md:1-1\n1|# Flask\n\n(2 places, the best first: found by the words of the question.)',
    ],
    [
      'several directories, each file once',
      { target_directories: ['docs', 'docs/flask.md', 'src', './docs'] },
      'docs/flask.md:1-1\n1|# Flask\n\nsrc/main.py:1-3\n1|from flask import Flask\n2|\n3|app = Flask(__name__)\n\n(2 places, the best first: found by the words of the question.)',
    ],
    [
      'the whole workspace for an empty name',
      { query: 'x?', target_directories: [''] },
      'src/other.py:1-1\n1|x = 1\n\n(1 place: found by the words of the question.)',
    ],
    [
      'that there is nothing',
      { query: 'Where is the unicorn fed?' },
      '(Nothing found. Ignored files are not searched. Ask with other words, or look for an exact name with grep.)',
    ],
    [
      'nothing for a question without words',
      { query: '???' },
      '(Nothing found. Ignored files are not searched. Ask with other words, or look for an exact name with grep.)',
    ],
  ])('shows %s', async (_, args, data) => {
    const { call } = await temporaryWorkspace(FILES);
    const found = await call('codebase_search', { query: 'Where is Flask initialized?', ...args });
    expect(found).toEqual({ status: 'success', data });
  });

  it.each([
    ['too many directories', Array.from('abcdefghijk'), 'INVALID_ARGUMENTS', 'target_directories'],
    ['a missing one of several', ['src', 'missing'], 'FILE_NOT_FOUND', 'does not exist'],
    ['a glob', ['src/*.py'], 'INVALID_ARGUMENTS', 'globs are not taken'],
    ['a missing directory', ['missing'], 'FILE_NOT_FOUND', 'does not exist'],
    ['a place outside', ['..'], 'OUTSIDE_WORKSPACE', 'outside the workspace'],
    ['a secret', ['.env'], 'SECRET_PATH', 'may hold secrets'],
    ['a pipe', ['pipe'], 'NOT_A_FILE', 'pipe'],
  ])('refuses %s', async (_, target_directories, code, message) => {
    const { call, path } = await temporaryWorkspace({ ...FILES, '.env': 'FLASK=1\n' });
    execFileSync('mkfifo', [path('pipe')]);
    expect(await call('codebase_search', { query: 'flask', target_directories })).toEqual({
      status: 'error',
      code,
      data: expect.stringContaining(message),
    });
  });

  it('says when more was left out, in other files or in the same', async () => {
    const long = `needle\n${'line\n'.repeat(CODEBASE_LIMITS.maxChunkLines - 1)}`.repeat(20);
    const many = Array.from({ length: 20 }, (_, index) => [`f${index}.ts`, 'needle\n']);
    const { call } = await temporaryWorkspace({ 'long/a.ts': long, ...Object.fromEntries(many) });
    const all = await call('codebase_search', { query: 'needle' });
    expect(all.data).toMatch(/\((\d+) places, the best first: .* \d+ more files mention/);
    const one = await call('codebase_search', {
      query: 'needle',
      target_directories: ['long/a.ts'],
    });
    expect(one.data).toMatch(/Other parts of these files mention some of them too/);
  });

  it('bounds what it shows', async () => {
    const wide = `needle ${'wide '.repeat(40)}\n`.repeat(50);
    const files = Array.from({ length: 12 }, (_, index) => [`f${index}.ts`, wide]);
    const { call } = await temporaryWorkspace(Object.fromEntries(files));
    const { data } = await call('codebase_search', { query: 'needle' });
    expect(data.length).toBeGreaterThan(CODEBASE_LIMITS.maxAnswerChars / 2);
    expect(data.length).toBeLessThan(3 * 2_000);
    expect(data).toMatch(/more files? mention/);
  });

  it('goes by the other name that models know', () => {
    expect(findTool('SemanticSearch')?.name).toBe('codebase_search');
  });
});
