/** These files with all of their cases. */
import './growing.test.ts';
import './hostile.test.ts';
