/** Work that does not end when its signal says so is left behind this long after; the caller has its answer then. */
const UNWIND_MS = 800;

/** The answer of `work`; or the reason of `signal`, if `work` does not end soon after it. */
export async function answerInTime<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const overdue = new Promise<never>((_, reject) => {
    signal.addEventListener(
      'abort',
      () => {
        timer = setTimeout(() => reject(signal.reason), UNWIND_MS);
      },
      { once: true },
    );
  });
  try {
    return await Promise.race([work, overdue]);
  } finally {
    clearTimeout(timer);
    work.catch(() => {
      // Reported already: as the answer, or as the reason that came first.
    });
  }
}
