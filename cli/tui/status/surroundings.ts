/** What the status lines need of the server: the models with their windows, and the folder's bridge. */
import type { BridgeDetails, ModelInfo } from '../../../shared/api/listings.ts';
import type { ChatSession } from '../../chat/session.ts';

export class StatusSurroundings {
  models: readonly ModelInfo[] = [];
  bridge: BridgeDetails | undefined;

  /** Asks once for all; never rejects. What cannot be read stays unknown. `onChange` is called after each answer. */
  async read({ chat: { client }, bridgeId }: ChatSession, onChange: () => void): Promise<void> {
    const models = client.listModels().then(({ items }) => {
      this.models = items;
      onChange();
    });
    const bridge =
      bridgeId &&
      client.getBridge(bridgeId).then((details) => {
        this.bridge = details;
        onChange();
      });
    await Promise.allSettled([models, bridge]);
  }
}
