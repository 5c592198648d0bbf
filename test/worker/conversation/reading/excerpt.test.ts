import { testExcerpts } from './excerpts.ts';

// `test:deep` tries thirty.
testExcerpts(9);
