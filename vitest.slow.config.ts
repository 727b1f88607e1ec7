import { defineConfig } from 'vitest/config';
import ClosingLineReporter from './test/support/closing-line-reporter.ts';

/** Proofs that take long or need a machine of their own: `npm run test:slow`. */
export default defineConfig({
  test: {
    include: ['test/slow/**/*.test.ts'],
    // One at a time: they count what the whole machine sends.
    fileParallelism: false,
    testTimeout: 180_000,
    hookTimeout: 60_000,
    retry: process.env['CI'] ? 1 : 0,
    reporters: ['default', new ClosingLineReporter()],
  },
});
