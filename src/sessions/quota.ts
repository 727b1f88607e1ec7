/** How often a workspace is measured: about a hundred `lstat` calls each time. */
const EVERY_MS = 5_000;

/**
 * Measures now and then, and calls `onExceeded` once when a session holds more than `limitBytes`. Ends with `signal`.
 */
export function watchQuota(
  usage: () => Promise<{ bytes: number }>,
  limitBytes: number,
  signal: AbortSignal,
  onExceeded: (bytes: number) => void,
): void {
  let measuring = false;
  const timer = setInterval(() => {
    if (measuring) return;
    measuring = true;
    usage()
      .then(({ bytes }) => {
        if (bytes <= limitBytes || signal.aborted) return;
        clearInterval(timer);
        onExceeded(bytes);
      })
      .catch(() => {
        // The workspace went away under the walk: the session is closing.
      })
      .finally(() => {
        measuring = false;
      });
  }, EVERY_MS);
  timer.unref();
  signal.addEventListener('abort', () => clearInterval(timer), { once: true });
}
