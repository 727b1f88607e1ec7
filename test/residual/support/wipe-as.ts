/** Wipes a path as the user that runs this, and prints the result. Argument: the path. */
import { wipe } from '../../../src/residual/wipe.ts';

console.log(JSON.stringify(await wipe(process.argv[2] ?? '')));
