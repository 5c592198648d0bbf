/** The registries of Python, Go and Ruby by their own names, with one package each. They speak TLS on this machine. */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:https';
import { dirname, join } from 'node:path';
import { onTestFinished } from 'vitest';
import { REGISTRIES } from '../../../../shared/tools/registries.ts';

/** Where they listen: a loopback address on which no other program is likely to hold the port of HTTPS. */
export const REGISTRY_ADDRESS = '127.44.3.1';

export interface ScriptedRegistries {
  /** The certificate that clients must trust, as PEM. */
  readonly certificate: string;
  /** `host/path` of each request, in order. */
  readonly seen: string[];
}

/** `folder` is an empty one. Rejects where this user may not listen on the port of HTTPS. */
export async function startRegistries(folder: string): Promise<ScriptedRegistries> {
  const { key, cert } = newCertificate(folder);
  const seen: string[] = [];
  const pages = pagesIn(folder);
  const server = createServer({ key, cert }, (request, response) => {
    const address = `${request.headers.host}${request.url}`;
    seen.push(address);
    const page = pages.get(address);
    response.writeHead(page === undefined ? 404 : 200, { 'content-type': typeOf(address) });
    response.end(page);
  });
  server.listen(443, REGISTRY_ADDRESS);
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  return { certificate: cert, seen };
}

function typeOf(address: string): string {
  return address.startsWith('pypi.org') ? 'text/html' : 'application/octet-stream';
}

function newCertificate(folder: string): { readonly key: string; readonly cert: string } {
  const [key, cert] = [join(folder, 'key.pem'), join(folder, 'cert.pem')];
  const names = REGISTRIES.map((host) => `DNS:${host}`).join(',');
  const made = ['-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '2', '-subj', '/CN=registries'];
  const files = ['-keyout', key, '-out', cert];
  const args = ['req', ...made, ...files, '-addext', `subjectAltName=${names}`];
  execFileSync('openssl', args, { stdio: 'ignore' });
  return { key: readFileSync(key, 'utf8'), cert: readFileSync(cert, 'utf8') };
}

/** What each address answers, for the registries whose tools this machine has. */
function pagesIn(folder: string): ReadonlyMap<string, string | Buffer> {
  return new Map([...pythonPages(folder), ...goPages(folder), ...rubyPages(folder)]);
}

type Pages = readonly (readonly [address: string, page: string | Buffer])[];

function pythonPages(folder: string): Pages {
  const name = 'drawbridge_greet-1.0.0-py3-none-any.whl';
  const info = 'drawbridge_greet-1.0.0.dist-info';
  const wheel = zipped(join(folder, name), {
    'drawbridge_greet.py': 'TEXT = "hello from Python"\n',
    [`${info}/METADATA`]: 'Metadata-Version: 2.1\nName: drawbridge-greet\nVersion: 1.0.0\n',
    [`${info}/WHEEL`]:
      'Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n',
    [`${info}/RECORD`]: ['drawbridge_greet.py', 'METADATA', 'WHEEL', 'RECORD']
      .map((file) => `${file.endsWith('.py') ? file : `${info}/${file}`},,\n`)
      .join(''),
  });
  const href = `https://files.pythonhosted.org/packages/${name}#sha256=${sha256(wheel)}`;
  return [
    ['pypi.org/simple/drawbridge-greet/', `<!DOCTYPE html><a href="${href}">${name}</a>`],
    [`files.pythonhosted.org/packages/${name}`, wheel],
  ];
}

function goPages(folder: string): Pages {
  const module = 'example.com/greet';
  const mod = `module ${module}\n\ngo 1.18\n`;
  const source = 'package greet\n\nconst Text = "hello from Go"\n';
  const zip = zipped(join(folder, 'greet.zip'), {
    [`${module}@v1.0.0/go.mod`]: mod,
    [`${module}@v1.0.0/greet.go`]: source,
  });
  const at = `proxy.golang.org/${module}/@v`;
  const info = JSON.stringify({ Version: 'v1.0.0', Time: '2026-11-01T00:00:00Z' });
  return [
    [`${at}/list`, 'v1.0.0\n'],
    [`${at}/v1.0.0.info`, info],
    [`${at}/v1.0.0.mod`, mod],
    [`${at}/v1.0.0.zip`, zip],
  ];
}

/** Made by `gem` itself. */
function rubyPages(folder: string): Pages {
  const source = join(folder, 'gem');
  put(join(source, 'lib/drawbridge_greet.rb'), 'TEXT = "hello from Ruby"\n');
  put(join(source, 'g.gemspec'), GEMSPEC);
  try {
    execFileSync('/usr/bin/gem', ['build', '--silent', 'g.gemspec'], {
      cwd: source,
      stdio: 'ignore',
    });
    execFileSync('/usr/bin/ruby', ['-e', QUICK], { cwd: source });
  } catch {
    return []; // No Ruby: its test is skipped.
  }
  const gem = readFileSync(join(source, 'drawbridge_greet-1.0.0.gem'));
  const quick = readFileSync(join(source, 'quick'));
  return [
    ['index.rubygems.org/', ''],
    ['index.rubygems.org/info/drawbridge_greet', `---\n1.0.0 |checksum:${sha256(gem)}\n`],
    ['index.rubygems.org/quick/Marshal.4.8/drawbridge_greet-1.0.0.gemspec.rz', quick],
    ['index.rubygems.org/gems/drawbridge_greet-1.0.0.gem', gem],
  ];
}

const GEMSPEC = `Gem::Specification.new do |s|
  s.name = 'drawbridge_greet'
  s.version = '1.0.0'
  s.summary = 'Greets'
  s.authors = ['Ada']
  s.files = ['lib/drawbridge_greet.rb']
end
`;

/** What RubyGems reads about one version: the compressed specification. */
const QUICK = `
require 'rubygems/package'
spec = Gem::Package.new('drawbridge_greet-1.0.0.gem').spec
File.binwrite('quick', Gem.deflate(Marshal.dump(spec)))
`;

function zipped(path: string, files: Readonly<Record<string, string>>): Buffer {
  const folder = `${path}.d`;
  for (const [name, text] of Object.entries(files)) put(join(folder, name), text);
  execFileSync('zip', ['-q', '-r', '-D', path, '.'], { cwd: folder });
  return readFileSync(path);
}

function put(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
}

function sha256(bytes: Buffer): string {
  return createHash('sha256').update(bytes).digest('hex');
}
