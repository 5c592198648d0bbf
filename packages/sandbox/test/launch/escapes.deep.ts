import { describeEscapes } from './describe-escapes.ts';

describeEscapes({ isHeld: true });
describeEscapes({ isHeld: false });
