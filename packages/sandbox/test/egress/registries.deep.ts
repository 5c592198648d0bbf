/** Real clients of package registries in the real sandbox: by the proxy, to the registries' own names, with TLS. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { REGISTRIES } from '../../../../shared/tools/registries.ts';
import { Egress, proxyVariables } from '../../egress/egress.ts';
import { freshWorkspace, NO_BUBBLEWRAP, realConfinement } from '../sandboxed-workspace.ts';
import { run } from '../terminal/plain-launch.ts';
import { only } from './proxied.ts';
import { REGISTRY_ADDRESS, startRegistries } from './scripted-registries.ts';

const NO_REGISTRY =
  NO_BUBBLEWRAP ??
  (process.getuid?.() === 0 ? undefined : 'skipped: only root listens on the port of HTTPS') ??
  missing('openssl', 'version') ??
  missing('zip', '-v');

/** Why a test that needs the program cannot run here, for its title. */
function missing(program: string, ...args: readonly string[]): string | undefined {
  try {
    execFileSync(program, args, { stdio: 'ignore' });
    return undefined;
  } catch {
    return `skipped: no ${program}`;
  }
}

interface Case {
  readonly tool: string;
  readonly skipped: string | undefined;
  readonly install: string;
  /** Uses what was installed, without the network. */
  readonly use: string;
  readonly output: string;
  /** Hosts that the tool asks. */
  readonly hosts: readonly string[];
}

const CASES: readonly Case[] = [
  {
    tool: 'pip',
    skipped: missing('/usr/bin/python3', '-m', 'ensurepip', '--version'),
    install:
      '/usr/bin/python3 -m venv made && PIP_CERT=$PWD/authority.crt PIP_CONFIG_FILE=/dev/null made/bin/pip install drawbridge-greet',
    use: 'made/bin/python -c "import drawbridge_greet; print(drawbridge_greet.TEXT)"',
    output: 'hello from Python\n',
    hosts: ['pypi.org', 'files.pythonhosted.org'],
  },
  {
    tool: 'go',
    skipped: missing('/usr/bin/go', 'version'),
    install:
      // The log of sums needs a key of its own, which no test has.
      'printf "%s\\n" "package main" "import \\"example.com/greet\\"" "func main() { print(greet.Text) }" >main.go && ' +
      '/usr/bin/go mod init example.com/made && ' +
      'GONOSUMDB=example.com SSL_CERT_FILE=$PWD/authority.crt /usr/bin/go get example.com/greet',
    use: '/usr/bin/go build -o made . && ./made',
    output: 'hello from Go',
    hosts: ['proxy.golang.org'],
  },
  {
    tool: 'gem',
    skipped: missing('/usr/bin/gem', '--version'),
    install: 'SSL_CERT_FILE=$PWD/authority.crt /usr/bin/gem install --no-document drawbridge_greet',
    use: '/usr/bin/ruby -e "require %q(drawbridge_greet); puts TEXT"',
    output: 'hello from Ruby\n',
    hosts: ['index.rubygems.org'],
  },
];

describe.skipIf(NO_REGISTRY)(`a package registry ${NO_REGISTRY ?? ''}`, () => {
  for (const { tool, skipped, install, use, output, hosts } of CASES) {
    test.skipIf(skipped)(`gives a package to ${tool} ${skipped ?? ''}`, async () => {
      const place = await freshWorkspace();
      const folder = mkdtempSync(join(tmpdir(), 'drawbridge-registries-'));
      onTestFinished(() => rmSync(folder, { recursive: true }));
      const registries = await startRegistries(folder);
      await place.put('workspace/authority.crt', registries.certificate);
      const surroundings = { ...place.surroundings, cacheFolder: place.path('caches') };
      using confinement = await realConfinement(surroundings);
      const asked = { cwd: surroundings.workspace, permissions: [], hasCaches: true };
      const request = { ...asked, conversationId: 'conv_a' };
      const door = await confinement.openDoor?.('conv_a');
      if (door === undefined) throw new Error('no door');
      const egress = new Egress(only(...REGISTRIES), {
        lookup: async () => [{ address: REGISTRY_ADDRESS, family: 4 }],
        isPublic: () => true,
      });
      using pass = egress.admit(door, { conversationId: 'conv_a', hosts: [] });
      const online = { ...request, variables: proxyVariables(door, pass), hosts: REGISTRIES };
      const installed = await confinement.start({ ...online, command: install }, ({ launch }) =>
        run(launch, PATIENT),
      );
      expect(installed.end, installed.output).toEqual({ state: 'exited', exitCode: 0 });
      const used = await confinement.start({ ...request, command: use }, ({ launch }) =>
        run(launch, PATIENT),
      );
      expect(used.output).toBe(output);
      const reached = new Set(registries.seen.map((address) => address.split('/')[0]));
      expect([...reached].sort()).toEqual([...hosts].sort());
      expect([...pass.refused.keys()]).toEqual([]);
    });
  }
});

/** A venv takes pip ten seconds, and a first build takes Go as long. */
const PATIENT = { timeoutMs: 120_000 };
