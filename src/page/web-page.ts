import { AirlockError } from '../errors.ts';
import type { Frame } from './frames.ts';
import { policyDenied } from './net-error.ts';
import type { Operation } from './operation.ts';

/** Schemes that only a frame within a page may have: they inherit the page's origin, or have none. */
const WITHIN_A_PAGE = /^(?:about:srcdoc|data:|blob:)/;

/**
 * Refuses scripts and reads in what is not a web page: Chrome's own pages have privileged bindings, `file:` pages
 * other people's data. Judged by the committed address, not by the one that was asked for.
 * @throws AirlockError `navigation_failed` on Chrome's error page, `policy_denied` on any other
 */
export function requireWebPage(op: Operation, frame: Frame): void {
  const { url } = frame;
  if (/^https?:/.test(url) || url === '' || url === 'about:blank' || url.startsWith('about:blank#')) return;
  if (url.startsWith('blob:http')) return;
  if (frame.parentId !== undefined && WITHIN_A_PAGE.test(url)) {
    requireWebPage(op, op.tab.frames.main);
    return;
  }
  if (url.startsWith('chrome-error:')) {
    const failed = frame.unreachableUrl ?? url;
    throw new AirlockError('navigation_failed', `The tab shows that ${failed} could not be loaded`, {
      extra: { url: failed },
    });
  }
  throw policyDenied(url, { verdict: 'deny', reason: 'scheme', target: url });
}
