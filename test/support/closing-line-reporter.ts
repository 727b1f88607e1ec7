/**
 * Prints the counts of a run as its last line, alone on it and without colours, for whatever reads the log:
 * `123 passed, 0 failed, 2 skipped`.
 */
import type { Reporter } from 'vitest/node';

type TestModules = Parameters<NonNullable<Reporter['onTestRunEnd']>>[0];

interface Counts {
  passed: number;
  failed: number;
  skipped: number;
}

/** A file that cannot be loaded, and an error outside every test, count as one failure each: they fail the run. */
export function countTests(modules: TestModules, unhandledErrors: number): Counts {
  const counts: Counts = { passed: 0, failed: unhandledErrors, skipped: 0 };
  for (const module of modules) {
    let failedHere = 0;
    for (const test of module.children.allTests()) {
      const { state } = test.result();
      if (state === 'passed') counts.passed++;
      else if (state === 'failed') failedHere++;
      else counts.skipped++;
    }
    if (failedHere === 0 && module.state() === 'failed') failedHere = 1;
    counts.failed += failedHere;
  }
  return counts;
}

export default class ClosingLineReporter implements Reporter {
  onTestRunEnd(modules: TestModules, unhandledErrors: readonly unknown[]): void {
    const { passed, failed, skipped } = countTests(modules, unhandledErrors.length);
    process.stdout.write(`\n${passed} passed, ${failed} failed, ${skipped} skipped\n`);
  }
}
