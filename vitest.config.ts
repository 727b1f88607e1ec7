import { defineConfig } from 'vitest/config';
import ClosingLineReporter from './test/support/closing-line-reporter.ts';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    testTimeout: 60_000,
    hookTimeout: 60_000,
    // In this order: the closing line comes last.
    reporters: ['default', new ClosingLineReporter()],
  },
});
