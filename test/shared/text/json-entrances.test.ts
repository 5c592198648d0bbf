import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { sourceFiles } from '../../source-files.ts';

const ROOT = join(import.meta.dirname, '..', '..', '..');

/** Files that parse JSON without a bound of depth, and whose text it is. What comes from outside goes through shared/text/json.ts. */
const TRUSTED: Readonly<Record<string, string>> = {
  'shared/text/json.ts': 'the bound itself',
  'shared/text/json-schema.ts': 'a copy of a schema, as JSON.stringify has written it',
  'shared/settings/json-setting.ts': 'settings of the operator',
  'packages/sandbox/launch/runtime.ts': 'our own rules, in the process that gets them',
  'shared/wire/plan-file.ts': 'a text that begins with a quote, so it is a string or none',
  'worker/api/openapi/schemas.ts': 'our own schemas',
  'worker/tunnel/frames.ts': 'a frame that was found too deep, for its type',
  'worker/tunnel/statements.ts': 'rows of frames and calls that were parsed within the bound',
  'doors/cursor/agents.ts': 'what the conversation answers to the Worker',
  'doors/cursor/stream.ts': 'what the conversation sends to the Worker',
  'worker/deliveries/deliveries.ts': 'our own rows of events',
  'worker/account/usage-statements.ts': 'our own rows of usage',
  'worker/account/session-statements.ts': 'our own rows of sessions',
  'worker/account/push-statements.ts': 'our own rows of subscriptions',
  'web/session/push-choice.ts': "the page's own note in its browser",
  'worker/directory/entry-statements.ts': 'our own rows of logins',
  'worker/directory/passkey-statements.ts': 'our own rows of passkeys',
  'worker/directory/statements.ts': 'our own rows of keys',
  'client/examples/app.ts': 'what Drawbridge answers to the app',
  'worker/follow/fold-answer.ts': 'what the conversation sends to the Worker',
  'worker/follow/answer-stream.ts': 'what the conversation sends to the Worker',
  'doors/ui-messages/socket.ts': 'what the Worker answers itself',
  'worker/conversation/reading/requests.ts': 'what the Worker writes for the conversation',
  'worker/api/answers.ts': 'what the conversations answer to the Worker',
  'worker/api/account-export.ts': 'what the conversation answers to the Worker',
  'worker/api/export.ts': 'what the conversation answers to the Worker',
  'bridge/tunnel/journal-entries.ts': 'calls and results that were parsed within the bound',
  'bridge/context/edit-history.ts': 'a text that begins with a quote, so it is a string or none',
  'bridge/admission/devices.ts': "the owner's file; a schema takes only flat fields",
  'bridge/admission/rules.ts': 'rule files; a schema takes only flat fields',
  'bridge/tools/grep-output.ts': "ripgrep's own records",
  'cli/config/config.ts':
    "the owner's file, which local/config/json-error.ts has found not too deep",
  'local/own-root.ts': 'our package.json',
  'local/check/check-storage.ts': 'what our own checker answers, by a schema of flat fields',
  'local/check/checker-source.ts': 'what local/check/check-storage.ts sends to it',
  'local/config/config-file.ts': 'a text that local/config/json-error.ts has found not too deep',
  'local/config/edit.ts': 'a text that local/config/json-error.ts has found not too deep',
  'local/state/format.ts': "the machine's own file; a schema takes only flat fields",
  'local/state/upgrade.ts': "the machine's own file; a schema takes only flat fields",
  'local/runtime/wrangler-config.ts': 'our wrangler.toml',
  'machine/state-file.ts': "the machine's own file; a schema takes only flat fields",
  'local/state/running.ts': "the machine's own file; a schema takes only flat fields",
  'local/runtime/runtime.ts': "workerd's own messages",
  'local/runtime/left-behind.ts': 'what our own Worker answers; a schema takes only flat fields',
  'worker/storage/restored.ts': 'what our own server writes for its Worker',
};

test('JSON from outside is parsed within the bound of depth everywhere', () => {
  const sources = sourceFiles().filter((path) => !/^(?:bench|build)\//.test(path));
  const unbounded = sources.filter((path) =>
    /JSON\.parse\(|\.json(<[^()]*>)?\(\)/.test(readFileSync(join(ROOT, path), 'utf8')),
  );
  expect(unbounded.sort()).toEqual(Object.keys(TRUSTED).sort());
});
