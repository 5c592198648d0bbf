/** These files with all of their cases: streams are cut at every point. */
import './dialects/anthropic-reader.test.ts';
import './dialects/fit-calls.test.ts';
import './dialects/responses-reader.test.ts';
import './reader.test.ts';
import './reader-calls.test.ts';
import './sse.test.ts';
