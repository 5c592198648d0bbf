/** Asks a running server by its control socket. */
import { connect, type Socket } from 'node:net';
import { createInterface } from 'node:readline';
import { newDeferred } from '../../machine/deferred.ts';
import { LocalError } from '../../machine/local-error.ts';
import { parseJson } from '../../shared/text/json.ts';
import { LOCAL_LIMITS } from '../limits.ts';
import { ControlAnswer, type ControlRequest } from './control.ts';

/** The answer to one request. `hold` keeps the socket open until it aborts. @throws {LocalError} if there is none. */
export async function askServer<Answer extends ControlAnswer['answer']>(
  path: string,
  request: ControlRequest,
  wanted: Answer,
): Promise<Extract<ControlAnswer, { answer: Answer }>> {
  const socket = connect(path);
  try {
    return await answerOn(socket, request, wanted);
  } finally {
    socket.destroy();
  }
}

/** As {@link askServer}, and resolves `ended` when the server has closed the socket. `leave` closes it. */
export async function holdServer<Answer extends ControlAnswer['answer']>(
  path: string,
  request: ControlRequest,
  wanted: Answer,
): Promise<{
  readonly answer: Extract<ControlAnswer, { answer: Answer }>;
  readonly ended: Promise<void>;
  leave(): void;
}> {
  const socket = connect(path);
  const ended = new Promise<void>((resolve) => {
    socket.once('close', () => resolve());
  });
  try {
    const answer = await answerOn(socket, request, wanted);
    return { answer, ended, leave: () => void socket.destroy() };
  } catch (error) {
    // The server waits for this side to leave.
    socket.destroy();
    throw error;
  }
}

async function answerOn<Answer extends ControlAnswer['answer']>(
  socket: Socket,
  request: ControlRequest,
  wanted: Answer,
): Promise<Extract<ControlAnswer, { answer: Answer }>> {
  const { promise, resolve, reject } = newDeferred<string>();
  const fail = () => reject(new LocalError('failed', MUTE));
  const timer = setTimeout(fail, LOCAL_LIMITS.controlMs);
  socket.on('error', fail).once('close', fail);
  // The interface passes on the socket's errors.
  const lines = createInterface({ input: socket }).on('error', fail);
  lines.once('line', resolve);
  socket.write(`${JSON.stringify(request)}\n`);
  try {
    const answer = parseAnswer(await promise);
    if (answer.answer === 'error') throw new LocalError(answer.kind, answer.message);
    if (answer.answer !== wanted) throw new LocalError('failed', MUTE);
    return answer as Extract<ControlAnswer, { answer: Answer }>;
  } finally {
    clearTimeout(timer);
  }
}

/** @throws {LocalError} for what no server of this version answers. */
function parseAnswer(line: string): ControlAnswer {
  try {
    return ControlAnswer.parse(parseJson(line));
  } catch (cause) {
    throw new LocalError('failed', STRANGE, { cause });
  }
}

const STRANGE =
  'The running server answers in a way that this version does not know: end it with `drawbridge stop`, and start it again.';
const MUTE =
  'The running server does not answer: end it with `drawbridge stop`, and start it again.';
