/** A workspace with checkpoints, and an agent that changes its files through the writer of the tools. */
import { mkdtempSync, realpathSync } from 'node:fs';
import { mkdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Checkpoints } from '../../../bridge/checkpoints/checkpoints.ts';
import type { Selection } from '../../../bridge/checkpoints/selection.ts';
import { applyUndo, previewUndo } from '../../../bridge/checkpoints/undo.ts';
import { aboutCall } from '../../../machine/log.ts';
import { deleteFileAt, moveFileAt, replaceFileAt } from '../../../packages/workspace/changes.ts';
import { readContentIfAny } from '../../../packages/workspace/files.ts';
import { Workspace } from '../../../packages/workspace/workspace.ts';
import { newCallId, newConversationId } from '../../../shared/ids.ts';

export class UndoneFolder implements AsyncDisposable {
  readonly signal = new AbortController().signal;
  readonly conversation = newConversationId(NO_UUID);
  readonly base: string;
  readonly root: string;
  readonly stateDir: string;
  workspace!: Workspace;
  checkpoints!: Checkpoints;

  private constructor(base: string) {
    this.base = base;
    this.root = join(base, 'project');
    this.stateDir = join(base, 'state');
  }

  /** In a folder of its own, or in the one of another process. */
  static async make(base?: string): Promise<UndoneFolder> {
    const made = base ?? realpathSync(mkdtempSync(join(tmpdir(), 'drawbridge-undo-')));
    const folder = new UndoneFolder(made);
    await mkdir(folder.root, { recursive: true });
    await mkdir(folder.stateDir, { recursive: true });
    folder.workspace = await Workspace.open(folder.root);
    folder.restart();
    return folder;
  }

  /** As after a restart of the bridge. */
  restart(): void {
    const opened = Checkpoints.open(this.stateDir);
    if (!opened) throw new Error('no checkpoints');
    this.checkpoints = opened;
  }

  async write(name: string, text: string | Uint8Array, response = 'resp_1', call = 'call_1') {
    await this.#act(response, call, async (keep) => {
      const place = await this.workspace.resolve(name, 'write');
      const expected = (await readContentIfAny(place, this.signal))?.hash ?? null;
      await replaceFileAt(place, Buffer.from(text), { expected, keep, signal: this.signal });
    });
  }

  async delete(name: string, response = 'resp_1', call = 'call_1') {
    await this.#act(response, call, async (keep) => {
      const place = await this.workspace.resolve(name, 'write');
      const expected = (await readContentIfAny(place, this.signal))?.hash ?? null;
      await deleteFileAt(place, { expected, keep, signal: this.signal });
    });
  }

  async rename(from: string, to: string, response = 'resp_1', call = 'call_1') {
    await this.#act(response, call, async (keep) => {
      const [old, fresh] = await Promise.all(
        [from, to].map((name) => this.workspace.resolve(name, 'write')),
      );
      if (old && fresh) await moveFileAt(old, fresh, { expected: null, keep, signal: this.signal });
    });
  }

  /** A command whose work this is. Resolves with the names of the changes that cannot be undone. */
  async command(work: () => void | Promise<void>, response = 'resp_1', call = 'call_1') {
    this.checkpoints.watch(this.workspace);
    const changer = this.#changer(call);
    const run = async () => work();
    return await aboutCall({ run: response }, async () => {
      const { lost } = await this.checkpoints.during(this.root, () =>
        this.checkpoints.command(changer, run),
      );
      return lost;
    });
  }

  /** What becomes of each file. */
  async undo(selection: SelectionOfOne, { isPreview = false } = {}) {
    const place = {
      checkpoints: this.checkpoints,
      workspace: this.workspace,
      signal: this.signal,
    };
    const call = newCallId(crypto.randomUUID());
    const own = { conversation: this.conversation, call, isConfined: false };
    const asked: Selection = { ...own, ...selection };
    const { root } = this;
    const { plans } = isPreview
      ? await previewUndo(place, asked)
      : await this.checkpoints.alone(root, () => applyUndo(place, asked));
    return Object.fromEntries(
      plans.map((plan) => [
        plan.path,
        plan.action === 'refuse'
          ? plan.code
          : plan.action === 'restore' && plan.isDoubtful
            ? 'doubtful'
            : plan.action === 'restore' && plan.isMerged
              ? 'merge'
              : plan.action,
      ]),
    );
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.checkpoints.end();
    await rm(this.base, { recursive: true, force: true });
  }

  async #act(
    run: string,
    callId: string,
    work: (keep: ReturnType<Checkpoints['keeper']>) => Promise<void>,
  ) {
    await aboutCall({ run }, () => work(this.checkpoints.keeper(this.#changer(callId))));
  }

  #changer(callId: string) {
    return { root: this.root, conversationId: this.conversation, callId };
  }
}

/** The same in each process. */
const NO_UUID = '00000000-0000-4000-8000-000000000000';

type SelectionOfOne = Pick<Selection, 'scope' | 'id'>;
