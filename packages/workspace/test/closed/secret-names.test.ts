import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { describe, expect, it, test } from 'vitest';
import { fromText, toText } from '../../../../machine/byte-path.ts';
import {
  temporaryFolder,
  temporaryWorkspace,
} from '../../../../test/bridge/tools/temporary-workspace.ts';
import { eachOf } from '../../../../test/depth.ts';
import { shownSettings } from '../../../sandbox/view/shown-settings.ts';
import { closureOf } from '../../closed/protected.ts';
import { WorkspaceScan } from '../../closed/scan.ts';
import { EXAMPLE_FILES, SECRET_NAMES } from '../../closed/secret-names.ts';
import { Workspace } from '../../workspace.ts';

const NAMES = SECRET_NAMES.flatMap(({ names }) => names);

/** A path for each name of the table. */
const PATHS = NAMES.map((name) => name.replaceAll('*', 'x').replace(/\/$/, '/file'));

/** Usual files with credentials in a project. */
const USUAL = `
  .env .env.local .env.production env.local prod.env .envrc .npmrc .yarnrc.yml .pypirc .netrc _netrc
  .git-credentials .pgpass .my.cnf .htpasswd .vault-token .boto .s3cfg .databrickscfg .dev.vars
  .dev.vars.production .secrets .secrets.toml secrets.yml secrets.yaml secrets.json secrets.toml
  .streamlit/secrets.toml config/master.key config/credentials/production.key config/secrets.yml
  credentials.json client_secret.json service-account.json service_account.json gcp-key.json
  google-credentials.json application_default_credentials.json firebase-adminsdk-x.json
  shop-1-firebase-adminsdk-a1-b2.json terraform.tfvars prod.auto.tfvars terraform.tfstate
  terraform.tfstate.backup .terraformrc terraform.rc kubeconfig kubeconfig.yaml .kube/config
  .aws/credentials .docker/config.json .azure/accessTokens.json .config/gcloud/credentials.db
  .ssh/id_ed25519 id_rsa id_ed25519 deploy_key server.key server.pem cert.p12 cert.pfx app.jks
  app.keystore upload-keystore.jks key.properties local.properties vpn.ovpn wg0.conf AuthKey_X.p8
  x.ppk x.kdbx age.key x.agekey local.settings.json wp-config.php .rclone.conf rclone.conf
  .cargo/credentials.toml .gem/credentials .m2/settings.xml nuget.config NuGet.Config
  .composer/auth.json auth.json .expo/state.json .vercel/.env.development.local
  .wrangler/config/default.toml .clasprc.json .snowflake/config.toml profiles.yml connections.toml
  .vault_pass vault_pass.txt .ansible_vault_pass cookies.txt .msmtprc .fetchmailrc .mailrc
  .pgservice.conf .dbshell .psql_history .bash_history .python_history .node_repl_history
  .claude.json .codex/auth.json .gemini/oauth_creds.json .aider.conf.yml .continue/config.json
  .mcp.json .cursor/mcp.json .kiro/settings/mcp.json .amazonq/mcp.json
  .codeium/windsurf/mcp_config.json .kaggle/kaggle.json .sentryclirc .vscode/sftp.json
  .cloudflared/1a2b.json .oci/config .passwd-s3fs .sbt/.credentials .ivy2/.credentials
  .m2/settings-security.xml pip.conf pip.ini .config/pip/pip.conf
  .env~ .env.bak prod.env~ id_rsa.bak id_ed25519.old server.key.bak .npmrc.orig credentials.json.save
  .kube/config~ cert.p12.old
`
  .trim()
  .split(/\s+/);

/** They look alike and are read and changed every day. What secret they may hold is masked in their contents. */
const OPEN = `
  .env.example .env.production.sample .env.example.local example.env terraform.tfvars.example
  service-account.example.json .secrets.baseline locales/en/auth.json i18n/pt-BR/auth.json
  chart/templates/secrets.yaml id_ed25519.pub key.asc x.gpg keys.txt .sops.yaml gradle.properties
  appsettings.Development.json .netlify/state.json session.sqlite environment.ts wp-config-sample.php
  variables.tf docker/config.json src/secrets.ts history/a.ts profiles/a.yml .env.example~
  .env.example.bak notes.bak ~ .bak .flaskenv settings/a.json oci/config
`
  .trim()
  .split(/\s+/);

test('each line of the table has a source, and each name stands once, in lower case', () => {
  expect(SECRET_NAMES.filter(({ source }) => source.trim() === '')).toEqual([]);
  expect(NAMES.filter((name, at) => NAMES.indexOf(name) !== at)).toEqual([]);
  expect([...NAMES, ...EXAMPLE_FILES].filter((name) => name !== name.toLowerCase())).toEqual([]);
});

test.each([...USUAL, ...PATHS])('%s is a secret, at any depth and in any case', (path) => {
  for (const each of [path, `a/b/${path}`, path.toUpperCase()]) {
    expect([each, closureOf(each)]).toEqual([each, 'secret']);
  }
});

test.each(OPEN)('%s is none', (path) => {
  expect(closureOf(path)).not.toBe('secret');
});

test('the sandbox closes the same paths', async () => {
  const root = await temporaryFolder();
  const all = [...new Set([...USUAL, ...PATHS, ...OPEN])].map((path, at) => `d${at}/${path}`);
  for (const path of all) {
    await mkdir(join(root, dirname(path)), { recursive: true });
    await writeFile(join(root, path), '');
  }
  const { entries } = await new WorkspaceScan(fromText(root)).look(10_000);
  const closed = entries
    .filter(({ closure }) => closure === 'secret')
    .map(({ path }) => toText(path).slice(root.length + 1));
  const isClosed = (path: string) =>
    closed.some((each) => path === each || path.startsWith(`${each}/`));
  expect(all.filter((path) => isClosed(path) !== (closureOf(path) === 'secret'))).toEqual([]);
});

/** Each name is tried with two of the tools: `test:deep` tries it with all. */
const TOOL_STEP = eachOf(1, 3);

test('every tool closes every name, and searches show no content', async () => {
  const marked = [...new Set(PATHS)].map(
    (path, at) => [`d${at}/${path}`, 'hiddenHarbour\n'] as const,
  );
  const place = await temporaryWorkspace(
    Object.fromEntries([...marked, ['a.txt', 'hiddenHarbour\n']]),
  );
  for (const [at, [path]] of marked.entries()) {
    const calls = [
      ['read_file', { target_file: path }],
      ['grep', { pattern: 'Harbour', path }],
      ['write', { path, contents: 'x' }],
      ['str_replace', { file_path: path, old_string: 'hidden', new_string: 'x' }],
      ['delete_file', { target_file: path }],
      ['rename_file', { target_file: path, new_path: 'b.txt' }],
    ] as const;
    const tried = calls.filter((_, nth) => nth % TOOL_STEP === at % TOOL_STEP);
    const codes = await Promise.all(tried.map(([tool, args]) => place.codeOf(tool, args)));
    expect([path, codes]).toEqual([path, tried.map(() => 'SECRET_PATH')]);
  }
  const found = await place.call('grep', { pattern: 'hiddenHarbour', output_mode: 'content' });
  expect(found.data).toContain('a.txt');
  expect(found.data).not.toMatch(/^d\d+\//m);
  const shown = marked.filter(([path]) => place.context.workspace.mayShow(place.path(path)));
  expect(shown).toEqual([]);
}, 60_000);

test('what the machine’s owner opens by its path is open, and still protected', async () => {
  const place = await temporaryWorkspace({ 'a/.env': 'A\n', '.env': 'B\n', '.npmrc': 'C\n' });
  const openedPaths = ['a/.env', '.npmrc'].map(place.path);
  const workspace = await Workspace.open(place.root, { openedPaths });
  const tries = [
    ['a/.env', 'write'],
    ['.npmrc', 'read'],
    ['.npmrc', 'write'],
    ['.env', 'read'],
  ] as const;
  const codes = tries.map(async ([path, access]) =>
    workspace.resolve(path, access).then(
      () => 'open',
      (error) => error.code,
    ),
  );
  expect(await Promise.all(codes)).toEqual(['open', 'open', 'PROTECTED_PATH', 'SECRET_PATH']);
  expect(['a/.env', '.env'].map((path) => workspace.mayShow(place.path(path)))).toEqual([
    true,
    false,
  ]);
  const opened = new Set(openedPaths.map(fromText));
  const { entries } = await new WorkspaceScan(fromText(place.root), { opened }).look(10_000);
  const closed = entries.map(
    ({ path, closure }) => `${closure} ${toText(path).slice(place.root.length + 1)}`,
  );
  expect(closed.sort()).toEqual(['protected .npmrc', 'secret .env']);
});

describe('settings as commands see them', () => {
  it.each([
    [
      '.npmrc',
      [
        'registry=https://npm.example.com/',
        '@acme:registry = https://npm.acme.example/',
        '//npm.example.com/:_authToken=S3CRET',
        '; old: //npm.example.com/:_authToken=S3CRET',
        'always-auth=true',
        'proxy=http://ada:S3CRET@proxy.example.com',
        'save-exact=true',
        'S3CRET',
        '',
        'hoist-pattern[]=*types*',
      ],
      [0, 1, 6, 8, 9],
    ],
    [
      '.yarnrc.yml',
      [
        'nodeLinker: node-modules',
        'npmRegistries:',
        '  "//npm.acme.example":',
        '    npmAuthToken: S3CRET',
        '    npmAlwaysAuth: true',
        'npmScopes:',
        '  acme:',
        '    npmAuthToken: "S3CRET"',
        '    npmRegistryServer: "https://npm.acme.example"',
        'plugins:',
        '  - path: .yarn/plugins/a.cjs',
        'npmAuthIdent: >-',
        '  S3CRET',
      ],
      [0, 5, 6, 8, 9, 10],
    ],
    [
      'pip.conf',
      [
        '[global]',
        'timeout = 60',
        'index-url = https://pypi.example.com/simple',
        'extra-index-url = https://ada:S3CRET@pypi.acme.example/simple',
        '    https://ada:S3CRET@other.example/simple',
        '; index-url = https://ada:S3CRET@pypi.example.com/simple',
        'trusted-host: pypi.example.com',
        '',
        '[install]',
        'no-binary = :all:',
      ],
      [0, 1, 2, 6, 7, 8, 9],
    ],
    [
      'local.properties',
      ['sdk.dir=/opt/sdk', '# sdk.dir=S3CRET', 'MAPS_KEY=S3CRET', 'flutter.sdk=/opt/flutter'],
      [0, 3],
    ],
  ])('%s', (name, lines, kept) => {
    for (const end of ['\n', '\r\n']) {
      const content = lines.join(end);
      const shown = shownSettings(name, content) ?? '';
      expect(shown.length).toBe(content.length);
      expect(shown).not.toContain('S3CRET');
      expect(shown.split(end).flatMap((line, at) => (line.startsWith('#') ? [] : at))).toEqual(
        kept,
      );
    }
  });

  it('nuget.config', () => {
    const sources = '<add key="acme" value="https://nuget.acme.example/v3/index.json" />';
    const content = `<?xml version="1.0"?>\r\n<configuration>\n<packageSources>${sources}</packageSources>
      <!-- S3CRET --><packageSourceCredentials><acme><add key="ClearTextPassword" value="S3CRET"/></acme>
      </packageSourceCredentials><config><add key="http_proxy.password" value="S3CRET" /></config>`;
    const shown = shownSettings('NuGet.Config', content) ?? '';
    expect(shown.length).toBe(content.length);
    expect(shown).toContain(`<packageSources>${sources}</packageSources>`);
    expect(shown).not.toContain('S3CRET');
    expect(shownSettings('nuget.config', 'S3CRET')?.trim()).toBe('');
  });
});
