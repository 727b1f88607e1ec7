/**
 * The Chrome flags that an operator may add. An allow-list: a flag that touches the proxy, the debugging port, policy,
 * extensions, certificates, features, the sandbox or the profile would undo the lockdown, and no list of such flags is
 * ever complete. Callers of the API never set a flag.
 */
import { AirlockError } from '../errors.ts';

const number = /^\d{1,6}$/;
const noValue = /^$/;

/** Flag, without dashes, and what its value must match; `noValue` for a switch. */
const allowed: ReadonlyMap<string, RegExp> = new Map([
  ['autoplay-policy', /^(no-user-gesture-required|user-gesture-required|document-user-activation-required)$/],
  ['disable-dev-shm-usage', noValue],
  ['disable-font-subpixel-positioning', noValue],
  ['disable-gpu', noValue],
  ['disable-lcd-text', noValue],
  ['disable-software-rasterizer', noValue],
  ['disk-cache-size', /^\d{1,12}$/],
  ['enable-precise-memory-info', noValue],
  ['enable-unsafe-swiftshader', noValue],
  ['font-render-hinting', /^(none|slight|medium|full|max)$/],
  ['force-device-scale-factor', /^\d(\.\d{1,3})?$/],
  ['force-prefers-reduced-motion', noValue],
  ['ignore-gpu-blocklist', noValue],
  // V8 has options that weaken it; memory and the exposed collector are what operators need.
  ['js-flags', /^(--(max-old-space-size=\d{1,6}|expose-gc)\s*)+$/],
  ['lang', /^[A-Za-z]{2,3}(-[A-Za-z0-9]{2,8})*$/],
  ['log-level', /^\d$/],
  ['ozone-platform', /^(headless|x11|wayland)$/],
  ['renderer-process-limit', number],
  ['site-per-process', noValue],
  ['start-maximized', noValue],
  ['use-angle', /^(gl|gles|vulkan|swiftshader|swiftshader-webgl|metal|default)$/],
  ['use-fake-device-for-media-stream', noValue],
  ['use-gl', /^(angle|egl|disabled)$/],
  ['v', /^\d$/],
  ['window-position', /^\d{1,5},\d{1,5}$/],
  ['window-size', /^\d{1,5},\d{1,5}$/],
]);

/** The names of the flags that an operator may add, without dashes. */
export const operatorFlagNames: readonly string[] = [...allowed.keys()];

/**
 * Checks the operator's flags and returns them as Chrome reads them: `--name` or `--name=value`, name in lower case.
 *
 * @throws AirlockError `invalid_request` that names the first flag that is not allowed
 */
export function operatorFlags(flags: readonly string[]): string[] {
  return flags.map((flag) => {
    const [, name = '', value = ''] = /^--([A-Za-z0-9-]+)(?:=([^\0\r\n]*))?$/.exec(flag) ?? [];
    const lower = name.toLowerCase();
    const pattern = allowed.get(lower);
    if (pattern === undefined) {
      throw new AirlockError(
        'invalid_request',
        `the Chrome flag ${JSON.stringify(flag)} may not be set; those that may: ${operatorFlagNames.join(', ')}`,
      );
    }
    if (!pattern.test(value)) {
      throw new AirlockError(
        'invalid_request',
        `the Chrome flag --${lower} takes ${pattern === noValue ? 'no value' : `a value of the form ${pattern.source}`}, not ${JSON.stringify(value)}`,
      );
    }
    return value === '' ? `--${lower}` : `--${lower}=${value}`;
  });
}
