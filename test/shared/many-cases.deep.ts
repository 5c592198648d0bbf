/** These files with all of their cases. */
import './shown/command-last.test.ts';
import './text/mention-text.test.ts';
import './wire/assertion.test.ts';
import './wire/fold.test.ts';
