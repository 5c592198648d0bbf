/** The images of the next message, above the composer. */
import { basename } from 'node:path';
import { type Component, truncateToWidth } from '@earendil-works/pi-tui';
import type { ImagePart } from '../../../shared/api/requests.ts';
import { printableLine } from '../../../shared/text/plain-sight.ts';
import { readImage, toImagePart } from '../../chat/image-file.ts';
import type { Paint } from '../../terminal/paint.ts';
import { writtenPath } from '../../terminal/written-path.ts';
import { clipboardPrograms, readClipboardImage } from './clipboard.ts';
import { INPUT_LIMITS } from './limits.ts';

export interface InputAttachment {
  readonly name: string;
  readonly image: ImagePart;
}

export class Attachments implements Component {
  readonly #paint: Paint;
  #all: readonly InputAttachment[] = [];

  constructor(paint: Paint) {
    this.#paint = paint;
  }

  get isEmpty(): boolean {
    return this.#all.length === 0;
  }

  /** `name` may be a path. */
  add(image: ImagePart, name: string): void {
    this.#all = [...this.#all, { image, name: basename(name) }];
  }

  /** @throws {UsageError} if it is no image file. */
  async addFile(path: string): Promise<void> {
    this.add(await readImage(writtenPath(path)), path);
  }

  /** Undefined, or what stands in the way. Uses no program in `workspaceDir`. @throws {UsageError} for an image too large. */
  async addFromClipboard(workspaceDir: string): Promise<string | undefined> {
    const found = await readClipboardImage(workspaceDir);
    switch (found.state) {
      case 'no program':
        return `To paste images, install one of these programs: ${clipboardPrograms()}.`;
      case 'empty':
        return 'There is no image in the clipboard.';
      case 'read':
        this.add(toImagePart(found.bytes, 'in the clipboard'), 'clipboard.png');
        return undefined;
    }
  }

  removeLast(): void {
    this.#all = this.#all.slice(0, -1);
  }

  /** Empties the list, and returns what was in it. */
  take(): readonly InputAttachment[] {
    const all = this.#all;
    this.#all = [];
    return all;
  }

  invalidate(): void {}

  render(width: number): string[] {
    if (this.isEmpty) return [];
    const names = this.#all.map(({ name }) => printableLine(name, INPUT_LIMITS.maxLineChars));
    const marks = names.map((name) => this.#paint('cyan', `[image ${name}]`)).join(' ');
    const hint = this.#paint('dim', 'Backspace in an empty composer removes the last');
    return [`${marks} ${hint}`].map((line) => truncateToWidth(line, width, '…'));
  }
}
