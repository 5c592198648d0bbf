import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { renderUnicodeCompact } from 'uqr';
import { expect, test } from 'vitest';
import { readEnrolment } from '../../../client/index.ts';
import { openState } from '../../../local/state/state.ts';
import { DRAWBRIDGE } from '../bundle.ts';
import { callDrawbridge } from '../called.ts';
import { newPlace, type Place } from '../drawbridge.ts';
import { HAS_TERMINALS, openPseudoTerminal } from '../pseudo-terminal.ts';

const wordsOf = ({ workspaceDir, stateDir }: Place) => [
  ...['enrol', '--workspace', workspaceDir, '--state', stateDir],
];

test('enrol prints a secret for the bridge of the folder, which its owner alone can read', async () => {
  const place = newPlace();
  const { bridgeId } = await openState(place);
  const runs = [await callDrawbridge(wordsOf(place)), await callDrawbridge(wordsOf(place))];
  const printed = runs.map(({ stdout }) => readEnrolment(stdout));
  const file = join(place.stateDir, 'enrolments.json');
  const { open } = JSON.parse(readFileSync(file, 'utf8'));
  expect(statSync(file).mode & 0o777).toBe(0o600);
  expect(open).toEqual(
    printed.map((each) => ({
      secret: each?.secret,
      maker: 'enrol',
      expires: expect.stringMatching(/^\d{4}-/),
    })),
  );
  for (const [index, { code, stdout, stderr }] of runs.entries()) {
    expect(printed[index]?.bridgeId).toBe(bridgeId);
    expect({ code, stdout }).toEqual({ code: 0, stdout: expect.stringMatching(/^\S+\n$/) });
    expect(stderr).toContain(`until ${open[index].expires}`);
    expect(stderr).not.toContain(open[index].secret);
  }
});

test.runIf(HAS_TERMINALS)('enrol shows the secret at a terminal as a QR code, too', async () => {
  const place = newPlace();
  await openState(place);
  const terminal = openPseudoTerminal([process.execPath, DRAWBRIDGE, ...wordsOf(place)]);
  expect((await terminal.finished).code).toBe(0);
  const [text = ''] = /drawbridge-enrol:\S+/.exec(terminal.screen()) ?? [];
  expect(terminal.screen()).toContain(renderUnicodeCompact(text, { border: 2 }));
});

test('enrol makes no secret for a folder that was never connected', async () => {
  const place = newPlace();
  const refused = await callDrawbridge(['enrol', '--workspace', place.workspaceDir], {
    env: { XDG_STATE_HOME: place.stateDir },
  });
  expect(refused).toMatchObject({ code: 2, stdout: '' });
  expect(refused.stderr).toContain('was never connected');
});
