/**
 * What `work` gives within `ms` milliseconds, else `undefined`; the work goes on unwatched then. For answers that are
 * good to have but that nothing may wait for.
 */
export async function timeBox<T>(work: Promise<T>, ms: number): Promise<T | undefined> {
  const { promise: late, resolve } = Promise.withResolvers<undefined>();
  const timer = setTimeout(() => resolve(undefined), ms);
  timer.unref();
  // A rejection after the time is up belongs to nobody; before it, the race reports it.
  work.catch(() => undefined);
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}
