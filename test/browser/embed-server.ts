/** Serves a page with `<drawbridge-thread>`, as a careful app does: its policy forbids all that the element does not need. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { bundleEmbed } from '../../build/embed.ts';
import { listen, type PageServer } from './page-server.ts';

const ROOT = join(import.meta.dirname, '..', '..');

const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  'connect-src http: ws:',
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join('; ');

export async function serveEmbed(): Promise<PageServer> {
  const folder = mkdtempSync(join(tmpdir(), 'drawbridge-embed-'));
  await bundleEmbed(ROOT, join(folder, 'embed.js'));
  const embed = readFileSync(join(folder, 'embed.js'));
  rmSync(folder, { recursive: true });
  const files = new Map<string, readonly [type: string, content: string | Buffer]>([
    ['/embed.js', ['text/javascript', embed]],
    ['/again.js', ['text/javascript', embed]],
    ['/page.js', ['text/javascript', SCRIPT]],
    ['/page.css', ['text/css', STYLES]],
  ]);
  return await listen((request, response) => {
    const [type, content] = files.get(request.url ?? '') ?? ['text/html', PAGE];
    response.writeHead(200, { 'content-type': type, 'content-security-policy': POLICY });
    response.end(content);
  });
}

const PAGE = `<!doctype html>
<html lang="en">
<title>An app</title>
<link rel="stylesheet" href="/page.css">
<script type="module" src="/page.js"></script>
<main><h1>An app</h1></main>
</html>`;

const STYLES = `:root { color-scheme: light dark; background: Canvas; color: CanvasText }
drawbridge-thread { height: 30rem; --accent: rgb(85 26 139); --on-accent: white }`;

/** What tests call. `token` may be a function; what the element says of its conversations is in \`begun\`. */
const SCRIPT = `
import './embed.js';
import './again.js';

globalThis.begun = [];
globalThis.faults = [];
document.addEventListener('securitypolicyviolation', (event) =>
  faults.push(event.effectiveDirective + ' ' + event.blockedURI));
addEventListener('unhandledrejection', (event) => faults.push(String(event.reason)));

globalThis.embed = (properties) => {
  const element = Object.assign(document.createElement('drawbridge-thread'), properties);
  element.addEventListener('conversation', ({ detail }) => begun.push(detail.id));
  document.querySelector('main').append(element);
  return element;
};`;
