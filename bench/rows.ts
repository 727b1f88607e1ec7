import type { Row } from './row.ts';
import { createWarm } from './rows/01-create-warm.ts';
import { createCold } from './rows/02-create-cold.ts';
import { evalRow } from './rows/03-eval.ts';
import { click } from './rows/04-click.ts';
import { snapshotLarge } from './rows/05-snapshot-large.ts';
import { snapshotSmall } from './rows/06-snapshot-small.ts';
import { pageLoad } from './rows/07-page-load.ts';
import { download } from './rows/08-download.ts';
import { decision } from './rows/09-decision.ts';
import { close } from './rows/10-close.ts';
import { idleMemory } from './rows/11-idle-memory.ts';
import { cycles } from './rows/12-cycles.ts';
import { manySessions } from './rows/13-many-sessions.ts';

/** In the order of the table. */
export const rows: readonly Row[] = [
  createWarm,
  createCold,
  evalRow,
  click,
  snapshotLarge,
  snapshotSmall,
  pageLoad,
  download,
  decision,
  close,
  idleMemory,
  cycles,
  manySessions,
];
