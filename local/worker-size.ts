/** Fails if the Worker that a dry deployment has built is larger than a cold start should load. */
import { readFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import { KIB } from '../shared/units.ts';

/**
 * Bytes of the gzipped module, as wrangler counts them ("gzip: 155.00 KiB"). A named import of zod alone adds 60 KiB.
 * zod is a fifth of the module, the rest is mostly our own code.
 * Find out what makes the bundle large before raising the limit. It rose by 2 KiB for the proof of a bridge's key, the
 * outbox of reports to the account, and fair reads, by 2 KiB for damaged accounts, what deleted ones leave, and large
 * bodies in turns, and by 25 KiB for foreign programs: what follows a refusal (5), their histories (1.5), usage, names
 * and turns of strict templates (1.5), their tools and results (4), JSON answers with the checker of schemas (6.5),
 * large images (2), tickets, slashes and Cursor's second service (0.8).
 */
const MAX_GZIP_BYTES = 293 * KIB;

const [, , module = '.build/deploy/worker.js'] = process.argv;
const bytes = gzipSync(readFileSync(module)).length;
const line = `The Worker has ${formatKib(bytes)} gzipped; ${formatKib(MAX_GZIP_BYTES)} are allowed.\n`;
process.stdout.write(line);
if (bytes > MAX_GZIP_BYTES) process.exitCode = 1;

function formatKib(count: number): string {
  return `${(count / KIB).toFixed(1)} KiB`;
}
