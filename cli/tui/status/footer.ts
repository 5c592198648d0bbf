/** The last line: where messages go, and how full the model's window is. */
import { basename } from 'node:path';
import { type Component, truncateToWidth } from '@earendil-works/pi-tui';
import type { ChatResponse } from '../../../client/index.ts';
import { inOneLine } from '../../../shared/text/plain-sight.ts';
import type { ChatSession } from '../../chat/session.ts';
import { formatCost } from '../../render/run.ts';
import type { Paint } from '../../terminal/paint.ts';
import type { ProcessCount } from './processes.ts';
import type { StatusSurroundings } from './surroundings.ts';

export interface FooterOptions {
  readonly session: () => ChatSession;
  readonly around: StatusSurroundings;
  readonly processes: Pick<ProcessCount, 'running'>;
  readonly paint: Paint;
}

export class Footer implements Component {
  readonly #session: () => ChatSession;
  readonly #around: StatusSurroundings;
  readonly #processes: Pick<ProcessCount, 'running'>;
  readonly #paint: Paint;

  constructor({ session, around, processes, paint }: FooterOptions) {
    this.#session = session;
    this.#around = around;
    this.#processes = processes;
    this.#paint = paint;
  }

  invalidate(): void {}

  render(width: number): string[] {
    const { chat, current, view } = this.#session();
    const { bridge, models } = this.#around;
    const model = chat.model ?? current?.model ?? models.find(({ isDefault }) => isDefault)?.id;
    const sandbox = bridge?.confinement.kind;
    const { running } = this.#processes;
    const parts = [
      chat.mode,
      ...(running > 0 ? [`/processes: ${running}`] : []),
      ...(model === undefined ? [] : [model]),
      // A narrow screen cuts the end.
      ...(sandbox === 'none' ? ['no sandbox'] : []),
      ...this.#spentParts(view),
      ...(bridge ? [basename(bridge.workspacePath)] : []),
      ...(bridge && bridge.id !== chat.own?.bridgeId ? ['on another machine'] : []),
      ...(sandbox === undefined || sandbox === 'none' ? [] : ['sandbox']),
      // For a person who has never written here.
      ...(view === undefined ? ['/help: commands and keys'] : []),
    ];
    return [this.#paint('dim', truncateToWidth(parts.map(inOneLine).join(' · '), width, '…'))];
  }

  /** How full the window is, and what the exchanges that are shown have cost. */
  #spentParts(view: ChatSession['view']): string[] {
    const { models } = this.#around;
    const counted = view?.responses.findLast(({ metadata }) => metadata.contextTokens);
    const window = models.find((model) => model.id === counted?.model)?.contextWindow;
    const { contextTokens } = counted?.metadata ?? {};
    const isKnown = window !== undefined && contextTokens !== undefined;
    const cost = costOf(view?.responses ?? []);
    return [
      ...(isKnown ? [`${Math.round((100 * contextTokens) / window)} % of the context`] : []),
      ...(cost === undefined ? [] : [cost]),
    ];
  }
}

/** Of the exchanges that are shown; undefined where no model has a price. */
function costOf(responses: readonly ChatResponse[]): string | undefined {
  const costs = responses.flatMap(({ usage }) => usage?.cost ?? []);
  const [{ currency } = { currency: undefined }] = costs;
  if (currency === undefined) return undefined;
  const amount = costs.reduce((sum, each) => sum + each.amount, 0);
  return formatCost({ amount, currency });
}
