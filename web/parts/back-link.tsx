import { linkTo } from '../route.ts';
import { words } from '../words/words.ts';

/** On a phone the list is a place of its own, and this leads back to it. */
export function BackLink() {
  return (
    <a class="back" href={linkTo({ at: 'list' })} aria-label={words.back}>
      ‹
    </a>
  );
}
