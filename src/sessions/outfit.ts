import type { CdpSession } from '../page/cdp.ts';
import { canonicalTimeZone } from './check-spec.ts';
import type { SessionSpec } from './spec.ts';
import type { TargetKind } from './targets.ts';

/** What a page shows of a desktop screen when nothing is asked for. */
const DEFAULT_VIEWPORT = { width: 1280, height: 720 };

/**
 * Puts what the caller asked for on a page or frame before it runs: viewport, user agent, locale, time zone, headers,
 * init scripts. All commands are sent before this yields.
 */
export async function outfit(session: CdpSession, kind: TargetKind, spec: SessionSpec): Promise<unknown> {
  if (kind === 'worker') return spec.userAgent ? userAgent(session, spec) : undefined;
  const sent: Promise<unknown>[] = [];
  if (kind === 'page') sent.push(...screen(session, spec));
  if (spec.userAgent !== undefined || spec.locale !== undefined) sent.push(userAgent(session, spec));
  if (spec.locale !== undefined) {
    sent.push(session.send('Emulation.setLocaleOverride', { locale: spec.locale.replaceAll('-', '_') }));
  }
  if (spec.timezone !== undefined) {
    sent.push(
      session.send('Emulation.setTimezoneOverride', {
        timezoneId: canonicalTimeZone(spec.timezone) ?? spec.timezone,
      }),
    );
  }
  if (spec.colorScheme !== undefined) {
    const features = [{ name: 'prefers-color-scheme', value: spec.colorScheme }];
    sent.push(session.send('Emulation.setEmulatedMedia', { features }));
  }
  if (spec.geolocation !== undefined) {
    sent.push(session.send('Emulation.setGeolocationOverride', { accuracy: 10, ...spec.geolocation }));
  }
  if (spec.extraHeaders !== undefined) {
    sent.push(session.send('Network.setExtraHTTPHeaders', { headers: spec.extraHeaders }));
  }
  for (const source of spec.initScripts ?? []) {
    sent.push(session.send('Page.addScriptToEvaluateOnNewDocument', { source }));
  }
  return Promise.all(sent);
}

function screen(session: CdpSession, spec: SessionSpec): Promise<unknown>[] {
  const viewport = { ...DEFAULT_VIEWPORT, ...spec.viewport };
  return [
    session.send('Emulation.setDeviceMetricsOverride', {
      width: viewport.width,
      height: viewport.height,
      deviceScaleFactor: spec.viewport?.deviceScaleFactor ?? 1,
      mobile: spec.viewport?.mobile ?? false,
    }),
    session.send('Emulation.setTouchEmulationEnabled', {
      enabled: spec.viewport?.touch ?? spec.viewport?.mobile ?? false,
    }),
    // Pages behave as in a window that has the focus, also in tabs that are not in front.
    session.send('Emulation.setFocusEmulationEnabled', { enabled: true }),
  ];
}

function userAgent(session: CdpSession, spec: SessionSpec): Promise<unknown> {
  return session.send('Network.setUserAgentOverride', {
    userAgent: spec.userAgent ?? '',
    ...(spec.locale === undefined ? {} : { acceptLanguage: spec.locale.replaceAll('_', '-') }),
  });
}
