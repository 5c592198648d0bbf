import { testExcerpts } from './excerpts.ts';

// `test:deep` tries a hundred.
testExcerpts(9);
