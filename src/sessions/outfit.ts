import { AirlockError, messageOf } from '../errors.ts';
import { type CdpSession, isDetached, type Protocol } from '../page/cdp.ts';
import { canonicalTimeZone } from './check-spec.ts';
import type { SessionSpec } from './spec.ts';
import type { TargetKind } from './targets.ts';

/** What a page shows of a desktop screen when nothing is asked for. */
const DEFAULT_VIEWPORT = { width: 1280, height: 720 };

/**
 * Puts what the caller asked for on a page or frame before it runs: viewport, user agent, locale, time zone, headers,
 * init scripts. All commands are sent before this yields.
 * @throws AirlockError `invalid_request` when Chrome refuses one of them
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
    // Who gives a position wants it asked for: there is nobody to press "allow".
    const permissions: Protocol.Browser.PermissionType[] = ['geolocation'];
    const granted = session.connection()?.send('Browser.grantPermissions', { permissions });
    if (granted) sent.push(granted);
    sent.push(session.send('Emulation.setGeolocationOverride', { accuracy: 10, ...spec.geolocation }));
  }
  if (spec.extraHeaders !== undefined) {
    sent.push(session.send('Network.setExtraHTTPHeaders', { headers: spec.extraHeaders }));
  }
  for (const source of spec.initScripts ?? []) {
    sent.push(session.send('Page.addScriptToEvaluateOnNewDocument', { source }));
  }
  try {
    return await Promise.all(sent);
  } catch (error) {
    if (isDetached(error)) throw error;
    throw new AirlockError(
      'invalid_request',
      `Chrome does not take an option of the session: ${messageOf(error)}`,
      {
        cause: error,
      },
    );
  }
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
