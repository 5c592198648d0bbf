import { MILESTONES } from '../upgrades/milestones.ts';
import { describeUpgrades } from './describe-upgrades.ts';

describeUpgrades(MILESTONES.slice(1, -1));
