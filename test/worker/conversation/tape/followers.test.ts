import { env, runInDurableObject } from 'cloudflare:test';
import { expect, it, vi } from 'vitest';
import { formatEvents } from '../../../../shared/api/reader-socket.ts';
import { loopGauge } from '../../../../shared/load.ts';
import { Followers, type Outgoing } from '../../../../worker/conversation/tape/followers.ts';

it('forgets a socket that has closed', async () => {
  await following((followers, socket, send) => {
    followers.detach(socket);
    sendWord(followers);
    expect(send).not.toHaveBeenCalled();
  });
});

it('forgets a socket that closed under it', async () => {
  await following((followers, _, send) => {
    send.mockImplementation(() => {
      throw new Error('closed');
    });
    sendWord(followers);
    sendWord(followers);
    expect(send).toHaveBeenCalledTimes(1);
  });
});

it('sends what comes on a busy machine once in each window, and the first event at once', async () => {
  await following((followers, _, send) => {
    vi.useFakeTimers();
    vi.spyOn(loopGauge, 'coalesceMs', 'get').mockReturnValue(100);
    followers.send([wordAt(4)]);
    followers.send([wordAt(8)]);
    followers.send([wordAt(12)]);
    vi.advanceTimersByTime(99);
    expect(send).toHaveBeenCalledTimes(1);
    vi.advanceTimersByTime(1);
    expect(send).toHaveBeenCalledTimes(2);
    expect(vi.getTimerCount()).toBe(0);
  });
});

it('makes one event only of deltas that lie side by side', async () => {
  const texts: unknown[] = [];
  await following((followers) => {
    const { 1: socket } = new WebSocketPair();
    spyOnSend(socket).mockImplementation((text) => void texts.push(text));
    const past = [wordAt(4), wordAt(8), wordAt(20)];
    followers.attach(socket, { framing: 'positioned', responseId: null }, past);
  });
  expect(texts).toEqual([formatEvents([wordAt(8, 'wordword'), wordAt(20)])]);
});

/** Work with one follower of everything, who has been sent nothing yet. */
async function following(
  work: (followers: Followers, socket: WebSocket, send: ReturnType<typeof spyOnSend>) => void,
): Promise<void> {
  const id = env.CONVERSATIONS.newUniqueId();
  await runInDurableObject(env.CONVERSATIONS.get(id), (_, state) => {
    const followers = new Followers(state);
    const { 1: socket } = new WebSocketPair();
    followers.attach(socket, { framing: 'json', responseId: null }, []);
    work(followers, socket, spyOnSend(socket));
  });
}

function spyOnSend(socket: WebSocket) {
  return vi.spyOn(socket, 'send');
}

function sendWord(followers: Followers): void {
  followers.send([wordAt(4)]);
  followers.flush();
}

function wordAt(position: number, delta = 'word'): Outgoing {
  const event = { type: 'content_delta', documentId: 'doc_001', delta } as const;
  return { event, position, responseId: null };
}
