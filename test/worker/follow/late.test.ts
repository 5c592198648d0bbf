import { expect, it } from 'vitest';
import { isDelta } from '../../../shared/wire/events.ts';
import { call } from '../api.ts';
import { askAtBridge } from '../conversation/conversing.ts';
import {
  endFrames,
  type HeldModel,
  type HeldReply,
  runCommand,
  textFrame,
} from '../conversation/held-model.ts';
import type { ScriptedBridge } from '../tunnel/scripted-bridge.ts';
import { openSocket, type SocketReader } from './socket-reader.ts';
import { type ReadEvent, SseReader, textOf, unitsOf } from './sse-reader.ts';

it('readers who join at any moment get all of it once, the past in few events', async () => {
  const { reader, path, steps } = await begin();
  const late: (SocketReader | SseReader)[] = [];
  for (const { act, isSeen } of steps) {
    // Two join between the cause and its effect, two when the effect was seen.
    await act();
    late.push(await openSocket(path), new SseReader(await call(path)));
    await reader.until(isSeen);
    const joined = await openSocket(path);
    await joined.until((events) => events.length > 0);
    expectMerged(joined.messages[0] ?? []);
    late.push(joined, new SseReader(await call(path)));
  }
  const whole = unitsOf(await reader.toEnd());
  for (const one of late) expect(unitsOf(await one.toEnd())).toEqual(whole);
});

it('readers who come back at any moment get exactly what they have not seen', async () => {
  const { reader, path, steps } = await begin();
  const back: { readonly after: number; readonly one: SocketReader | SseReader }[] = [];
  for (const { act, isSeen } of steps) {
    await act();
    const after = reader.events.at(-1)?.id ?? 0;
    const address = `${path}?after=${after}`;
    back.push({ after, one: await openSocket(address) });
    back.push({ after, one: new SseReader(await call(address)) });
    await reader.until(isSeen);
  }
  const whole = unitsOf(await reader.toEnd());
  for (const { after, one } of back) {
    expect(unitsOf(await one.toEnd())).toEqual(whole.filter((unit) => positionOf(unit) > after));
  }
});

it('a tape that has finished can be cut at every position, over both transports', async () => {
  const { reader, path, steps } = await begin();
  for (const { act, isSeen } of steps) {
    await act();
    await reader.until(isSeen);
  }
  const whole = unitsOf(await reader.toEnd());
  const last = positionOf(whole.at(-1) ?? '');
  for (let after = positionOf(whole[0] ?? '') - 1; after <= last; after++) {
    const address = `${path}?after=${after}`;
    const rest = whole.filter((unit) => positionOf(unit) > after);
    expect(unitsOf(await (await openSocket(address)).toEnd())).toEqual(rest);
    expect(unitsOf(await new SseReader(await call(address)).toEnd())).toEqual(rest);
  }
});

interface Step {
  /** Makes something happen. */
  readonly act: () => Promise<void> | void;
  /** Whether it has reached a reader. */
  readonly isSeen: (events: readonly ReadEvent[]) => boolean;
}

/** A run of text, two calls at once with live output that comes by turns, and text again; nothing has happened yet. */
async function begin(): Promise<{ reader: SseReader; path: string; steps: readonly Step[] }> {
  const { model, bridge, reader, responseId } = await askAtBridge();
  const first = await model.next();
  const steps = [...speaking(first), ...calling(first, bridge), ...ending(model)];
  return { reader, path: `chat/completions/${responseId}/events`, steps };
}

function speaking(reply: HeldReply): Step[] {
  return ['Look', ' at', ' this.'].map((piece) => ({
    act: () => reply.send(textFrame(piece)),
    isSeen: (events) => textOf(events).endsWith(piece),
  }));
}

function calling(reply: HeldReply, bridge: ScriptedBridge): Step[] {
  const callIds: string[] = [];
  const output = (index: number, delta: string): Step => ({
    act: () => bridge.send({ type: 'output', callId: callIds[index] ?? '', delta }),
    isSeen: (events) => outputOf(events).endsWith(delta),
  });
  return [
    {
      async act() {
        reply.answer({ calls: [runCommand('one'), runCommand('two')] });
        for (const _ of ['one', 'two']) callIds.push((await bridge.nextCall()).callId);
      },
      isSeen: (events) => count(events, 'tool_call_arguments') === 2,
    },
    ...[output(0, 'a1'), output(1, 'b1'), output(0, 'a2'), output(1, 'b2')],
    {
      act: () => bridge.succeed(callIds[1] ?? '', 'b1b2', { output: 'b1b2', exitCode: 0 }),
      isSeen: (events) => count(events, 'tool_result') === 1,
    },
    {
      act: () => bridge.succeed(callIds[0] ?? '', 'a1a2', { output: 'a1a2', exitCode: 0 }),
      isSeen: (events) => count(events, 'tool_result') === 2,
    },
  ];
}

function ending(model: HeldModel): Step[] {
  return [
    {
      async act() {
        (await model.next()).send(textFrame('Done.'), ...endFrames('stop'));
      },
      isSeen: (events) => count(events, 'done') === 1,
    },
  ];
}

/** No two deltas of one document stand beside each other. */
function expectMerged(past: SocketReader['messages'][number]): void {
  const documents = past.map(({ event }) => (isDelta(event) ? event.documentId : null));
  const doubled = documents.filter((id, index) => id !== null && id === documents[index - 1]);
  expect(doubled).toEqual([]);
}

function outputOf(events: readonly ReadEvent[]): string {
  return events.map(({ event }) => (event.type === 'tool_output' ? event.delta : '')).join('');
}

function count(events: readonly ReadEvent[], type: string): number {
  return events.filter(({ event }) => event.type === type).length;
}

function positionOf(unit: string): number {
  return Number.parseInt(unit, 10);
}
