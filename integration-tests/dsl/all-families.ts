import { joinFamilies } from './join-families.js';
import { moreFamilies } from './more-families.js';
import { windowFamilies } from './window-families.js';

export const families = [...joinFamilies, ...windowFamilies, ...moreFamilies];
