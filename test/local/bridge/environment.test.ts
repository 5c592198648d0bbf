import { expect, test } from 'vitest';
import { bridgeEnvironment, ownEnvironment } from '../../../local/bridge/environment.ts';
import { limitedEnvironment } from '../../../packages/sandbox/launch/environment.ts';

const MODELS = '[{"id": "fast", "baseUrl": "https://fast.test/v1", "keyName": "JAVA_HOME"}]';

test('a bridge gets what programs need, and nothing that was not named', () => {
  const useful = {
    PATH: '/bin',
    HOME: '/home/me',
    LC_TIME: 'C',
    TERM: 'xterm',
    XDG_STATE_HOME: '/state',
    SSH_AUTH_SOCK: '/agent',
    NVM_DIR: '/nvm',
    HTTPS_PROXY: 'http://proxy',
    TERM_PROGRAM: 'vscode',
    GEMINI_CLI_IDE_SERVER_PORT: '1',
    GEMINI_CLI_IDE_AUTH_TOKEN: 'x',
    QWEN_CODE_IDE_WORKSPACE_PATH: '/a',
    QWEN_HOME: '/qwen',
    DRAWBRIDGE_IDE_PORT: '1',
  };
  const secrets = {
    OPENAI_API_KEY: 'a',
    GROQ_API_KEY: 'b',
    MODELS,
    AUTH_SECRET: 'c',
    DRAWBRIDGE_TOKEN: 'd',
    GITHUB_TOKEN: 'e',
    DATABASE_URL: 'postgres://me:password@db',
    npm_config__auth: 'f',
  };
  expect(bridgeEnvironment({ ...useful, ...secrets })).toEqual(useful);
});

test('the owner can name more', () => {
  const own = { DATABASE_URL: 'db', AWS_PROFILE: 'work', OTHER: 'x' };
  const DRAWBRIDGE_PASS_ENV = 'DATABASE_URL, AWS_PROFILE';
  expect(bridgeEnvironment({ ...own, DRAWBRIDGE_PASS_ENV })).toEqual({
    DATABASE_URL: 'db',
    AWS_PROFILE: 'work',
    DRAWBRIDGE_PASS_ENV,
  });
});

test('the key of a model is never passed on, whatever its name', () => {
  expect(bridgeEnvironment({ MODELS, JAVA_HOME: 'sk-1', PATH: '/bin' })).toEqual({ PATH: '/bin' });
  for (const DRAWBRIDGE_PASS_ENV of ['OPENAI_API_KEY', 'PATH,JAVA_HOME']) {
    expect(() => bridgeEnvironment({ MODELS, DRAWBRIDGE_PASS_ENV })).toThrow(/a model's key/);
  }
});

test('what confined commands are given reaches the bridge that gives it', () => {
  const names = [
    'PATH',
    'HOME',
    'USER',
    'LOGNAME',
    'SHELL',
    'LANG',
    'LANGUAGE',
    'LC_ALL',
    'LC_CTYPE',
  ]
    .concat(['TZ', 'NODE_ENV', 'NVM_DIR', 'VOLTA_HOME', 'PNPM_HOME', 'VIRTUAL_ENV', 'PYENV_ROOT'])
    .concat(['GOPATH', 'GOROOT', 'JAVA_HOME', 'CARGO_HOME', 'RUSTUP_HOME']);
  const own = Object.fromEntries(names.map((name) => [name, name]));
  expect(limitedEnvironment(bridgeEnvironment(own))).toEqual(limitedEnvironment(own));
});

test('a process of ours loads no code that a variable names, and gives freed memory back', () => {
  const given = { PATH: '/bin', NODE_OPTIONS: '--require=/w/a.cjs', LD_PRELOAD: '/w/a.so' };
  expect(ownEnvironment(given)).toEqual({ PATH: '/bin', MALLOC_TRIM_THRESHOLD_: '131072' });
});
