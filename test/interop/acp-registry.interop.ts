/** What the registry of the Agent Client Protocol demands of an agent, and what the protocol's schema says of its hello. */
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { type Schema, Validator } from '@cfworker/json-schema';
import { expect, it, onTestFinished } from 'vitest';
import { DRAWBRIDGE } from '../flow/house.ts';
import { temporaryFolder } from '../local/temporary-folder.ts';
import { foreignClone, versionHere } from './foreign-packages.ts';
import { row } from './table.ts';

const CLIENT = '.github/workflows/client.py';
const CLONE = await foreignClone('ACP_REGISTRY', 'agentclientprotocol/registry', CLIENT);
const NO_PYTHON = await promisify(execFile)('python3', ['--version']).then(
  () => undefined,
  () => 'there is no python3',
);

const registry = row({
  suite: 'ACP registry, check of `authMethods`',
  version: CLONE.version || '-',
  notRun: CLONE.notRun ?? NO_PYTHON,
});

it('run_auth_check', { ...registry, timeout: 120_000 }, async () => {
  const folder = temporaryFolder();
  const script = `
import json, sys
from pathlib import Path
sys.path.insert(0, sys.argv[1])
from client import run_auth_check
result = run_auth_check(json.loads(sys.argv[2]), Path(sys.argv[3]), {"HOME": sys.argv[3]})
print(json.dumps({"success": result.success, "error": result.error}))`;
  const command = JSON.stringify([process.execPath, DRAWBRIDGE, 'acp']);
  const args = ['-c', script, join(CLONE.folder, CLIENT, '..'), command, folder];
  const { stdout } = await promisify(execFile)('python3', args);
  expect(JSON.parse(stdout)).toEqual({ success: true, error: null });
});

const SDK = '@agentclientprotocol/sdk';
const SCHEMA = join(import.meta.dirname, '../../node_modules', SDK, 'schema/v1/schema.json');
const published = row({ suite: 'ACP, published schema', version: versionHere(SDK) });

it('InitializeResponse', published, async () => {
  const folder = temporaryFolder();
  const agent = spawn(process.execPath, [DRAWBRIDGE, 'acp'], {
    cwd: folder,
    env: { ...process.env, HOME: folder },
    stdio: ['pipe', 'pipe', 'ignore'],
  });
  onTestFinished(() => void agent.kill());
  const params = { protocolVersion: 1, clientCapabilities: {} };
  const hello = { jsonrpc: '2.0', id: 1, method: 'initialize', params };
  agent.stdin.write(`${JSON.stringify(hello)}\n`);
  const [line] = await once(createInterface(agent.stdout), 'line');
  const all = JSON.parse(readFileSync(SCHEMA, 'utf8'));
  const schema: Schema = { $defs: all.$defs, $ref: '#/$defs/InitializeResponse' };
  const validator = new Validator(schema, '2020-12');
  expect(validator.validate({}).valid).toBe(false);
  expect(validator.validate(JSON.parse(line).result).errors).toEqual([]);
});
