import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';
import ClosingLineReporter from './test/support/closing-line-reporter.ts';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    exclude: ['test/slow/**'],
    // Every test starts real browsers; on a machine that is busy with other things that takes its time.
    testTimeout: 120_000,
    hookTimeout: 120_000,
    // Most of a test is waiting for a browser: more of them at once than there are cores.
    maxWorkers: Math.max(4, availableParallelism()),
    // A shared runner may stall for seconds, which ends operations at their own deadlines. By hand nothing is repeated.
    retry: process.env['CI'] ? 2 : 0,
    // In this order: the closing line comes last.
    reporters: ['default', new ClosingLineReporter()],
  },
});
