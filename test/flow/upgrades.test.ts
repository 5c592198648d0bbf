import { MILESTONES } from '../upgrades/milestones.ts';
import { describeUpgrades } from './describe-upgrades.ts';

// The oldest and the newest; `test:deep` has those between.
describeUpgrades(MILESTONES.filter((_, at) => at === 0 || at === MILESTONES.length - 1));
